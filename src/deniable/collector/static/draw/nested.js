/**
 * Steps between channels that send sets. The coarser set lies as near to the finer one as its size allows, as far
 * apart from it, or free of it; a `share` {coarse, fine, near, apart, free} says how often, for two sizes of sets.
 */
import { below, bits, choose, running } from "./chance.js";
import { Fraction, ONE, ZERO, sum, weightsOf } from "./fraction.js";
import { count, every, holds, setOf } from "./sets.js";
import { chanceOf } from "./steps.js";

/** A step between two channels of sets. */
export class Nested {
  #plans = null;

  constructor(coarse, fine, shares) {
    Object.assign(this, { coarse, fine, shares });
  }

  upgrade(old, given, source) {
    chanceOf(this.coarse, old, given);
    const { upwards, mostUp } = this.#planned();
    return this.#drawn(upwards.get(`${count(old)} ${holds(old, given)}`), mostUp, old, 1n << given, source);
  }

  degrade(fine, source) {
    const { downwards, mostDown } = this.#planned();
    return this.#drawn(downwards.get(`${count(fine)}`), mostDown, fine, 0n, source);
  }

  /** Choose how to draw, then draw from the set that is known and from the rest; the answer apart from both. */
  #drawn(plan, most, known, own, source) {
    const pick = plan.picks[choose(plan.sums, source)];
    const others = every(this.fine.size) & ~own;
    const found = pick.free
      ? pickSome(others, pick.within, source)
      : pickSome(known & others, pick.within, source) | pickSome(others & ~known, pick.beyond, source);
    bits(Number(most - pick.within - pick.beyond), source); // passed over: how many words are taken tells nothing
    return pick.inside ? found | own : found;
  }

  #planned() {
    if (!this.#plans) {
      const [upwards, downwards] = [this.#upwards(), this.#downwards()];
      this.#plans = { upwards, downwards, mostUp: mostPicks(upwards), mostDown: mostPicks(downwards) };
    }
    return this.#plans;
  }

  /** How to upgrade, by the size of the coarser set and whether it holds the answer. */
  #upwards() {
    const plans = new Map();
    for (const size of this.coarse.sizes) {
      for (const held of [false, true]) {
        const whole = sides(this.coarse, size, held);
        if (whole.isZero) continue;
        const ways = this.#meetings(size, held).filter((way) => !way.chance.isZero);
        plans.set(`${size} ${held}`, plan(ways.map((way) => [wayUp(way, held), way.chance.over(whole)])));
      }
    }
    return plans;
  }

  /** How to degrade, by the size of the finer set. */
  #downwards() {
    const plans = new Map();
    for (const size of this.fine.sizes) {
      const ways = this.shares.filter((share) => share.fine === size).flatMap((share) =>
        this.#masses(share).map(([mass, shared]) => [
          shared === null
            ? { free: true, within: share.coarse, beyond: 0n, inside: false }
            : { free: false, within: shared, beyond: share.coarse - shared, inside: false },
          mass,
        ]),
      );
      if (ways.length) plans.set(`${size}`, plan(ways));
    }
    return plans;
  }

  /** All ways in which a coarser set of a size, that holds the answer or not, and a finer set can lie to each other. */
  #meetings(size, held) {
    return this.shares.filter((share) => share.coarse === size).flatMap((share) =>
      this.#masses(share).flatMap(([mass, shared]) =>
        [false, true].map((inside) => {
          const chance = mass.times(this.#meets(share, shared, inside, held));
          return { fine: share.fine, shared, inside, chance };
        }),
      ),
    );
  }

  #masses({ coarse, fine, near, apart, free }) {
    const ways = [[near, mostShared(coarse, fine)], [apart, leastShared(coarse, fine, this.fine.size)], [free, null]];
    return ways.filter(([mass]) => !mass.isZero);
  }

  /** Return P(finer set of this size, the answer inside or not)·P(a coarser set drawn so holds the answer or not). */
  #meets(share, shared, inside, held) {
    const weight = sides(this.fine, share.fine, inside);
    if (weight.isZero) return ZERO;
    const chance = chanceHeld(this.fine.size, share, shared, inside);
    return weight.times(held ? chance : chance.rest);
  }

  /** Whether P₁ = C·P₂: each size comes out as often as it should, and holds the answer as often. */
  get isExact() {
    const sent = this.fine.sizes.filter((size) => !this.fine.weight(size).isZero);
    const known = this.shares.every(
      ({ coarse, fine, near, apart, free }) =>
        this.coarse.sizes.includes(coarse) && sent.includes(fine) && [near, apart, free].every((each) => each.isChance),
    );
    const whole = (size) =>
      sum(this.shares.filter(({ fine }) => fine === size).flatMap(({ near, apart, free }) => [near, apart, free]));
    const comesOut = (size, held) =>
      sum(this.#meetings(size, held).map((way) => way.chance)).equals(sides(this.coarse, size, held));
    return (
      known &&
      sent.every((size) => whole(size).equals(ONE)) &&
      this.coarse.sizes.every((size) => comesOut(size, false) && comesOut(size, true))
    );
  }
}

/** Return how sets of one size are made from sets of any sizes, in closed form; null where they cannot be. */
export function oneSize(coarse, fine) {
  const size = coarse.ones;
  const [wanted, even] = [coarse.inclusion(size), new Fraction(size, coarse.size)];
  const rises = wanted.compare(even) > 0;
  const sent = fine.sizes.filter((each) => !fine.weight(each).isZero);
  const best = sent.map((each) => better(fine, size, each, rises));
  const reached = sum(best.map(({ held }, at) => fine.weight(sent[at]).times(held)));
  if (rises ? wanted.compare(reached) > 0 : wanted.compare(reached) < 0) return null;
  const beta = wanted.equals(even) ? ZERO : wanted.minus(even).over(reached.minus(even));
  return sent.map((each, at) => ({
    coarse: size,
    fine: each,
    near: best[at].near ? beta : ZERO,
    apart: best[at].near ? ZERO : beta,
    free: beta.rest,
  }));
}

/** Say whether being near or keeping apart holds the answer more often (less often), and how often. */
function better(fine, coarse, size, rises) {
  const own = fine.inclusion(size);
  const [near, apart] = [mostShared(coarse, size), leastShared(coarse, size, fine.size)].map((shared) => {
    const inside = size ? own.times(new Fraction(shared, size)) : ZERO;
    const outside = size < fine.size ? own.rest.times(new Fraction(coarse - shared, fine.size - size)) : ZERO;
    return inside.plus(outside);
  });
  return near.compare(apart) >= 0 === rises ? { near: true, held: near } : { near: false, held: apart };
}

/** Return the chance that a set is of a size, and holds the answer or not. */
function sides(channel, size, held) {
  const own = channel.inclusion(size);
  return channel.weight(size).times(held ? own : own.rest);
}

/** Return the chance that a coarser set holds the answer, which is inside the finer set or not. */
function chanceHeld(size, { coarse, fine }, shared, inside) {
  if (shared === null) return new Fraction(coarse, size);
  return inside ? new Fraction(shared, fine) : new Fraction(coarse - shared, size - fine);
}

/** Say how many members of the finer set are to be drawn from where. */
function wayUp({ fine, shared, inside }, held) {
  if (shared === null) return { free: true, within: fine - BigInt(inside), beyond: 0n, inside };
  const within = shared - BigInt(inside && held);
  return { free: false, within, beyond: fine - shared - BigInt(inside && !held), inside };
}

function plan(ways) {
  return { picks: ways.map(([pick]) => pick), sums: running(weightsOf(ways.map(([, chance]) => chance))) };
}

function mostPicks(plans) {
  const picks = [...plans.values()].flatMap(({ picks }) => picks.map(({ within, beyond }) => within + beyond));
  return picks.reduce((one, two) => (one > two ? one : two), 0n);
}

function mostShared(one, two) {
  return one < two ? one : two;
}

function leastShared(one, two, size) {
  return one + two > size ? one + two - size : 0n;
}

/** Return a random subset of so many members of a set, each subset equally likely. */
function pickSome(pool, wanted, source) {
  const members = [...pool.toString(2)].reverse().flatMap((digit, category) => (digit === "1" ? [category] : []));
  const drawn = new Set();
  for (let at = members.length - Number(wanted); at < members.length; at += 1) {
    const pick = Number(below(BigInt(at + 1), source));
    drawn.add(drawn.has(pick) ? at : pick);
  }
  return drawn.size ? setOf(Array.from(drawn, (each) => members[each]), members.at(-1) + 1) : 0n;
}
