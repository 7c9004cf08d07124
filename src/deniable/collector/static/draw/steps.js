/**
 * Gradual release: from a response of a coarser channel to one of a finer channel, and back.
 *
 * If P₁ = C·P₂ for a channel C, and the finer response is drawn with probability C[o₁|o₂]·P₂[o₂|x] / P₁[o₁|x], then all
 * that was ever sent reveals no more than the finest response alone. Each step has `upgrade(old, given, source)` and
 * `degrade(fine, source)`. A step that came with the file is only taken after P₁ = C·P₂ has been worked out here.
 */
import { below, choose, happens, running } from "./chance.js";
import { Dense } from "./channels.js";
import { Fraction, ZERO, sum, weightsOf } from "./fraction.js";
import { join, split } from "./labels.js";
import { every, tossed } from "./sets.js";
import { Refused } from "./wire.js";

/** Return P₁[old | given], which must not be 0. The message does not tell the answer. */
export function chanceOf(coarse, old, given) {
  const known = coarse.possible(old) ? coarse.probability(old, given) : ZERO;
  if (!known.isZero) return known;
  throw new Refused(
    "InvalidResponse",
    "the earlier response is none that this respondent can have sent; expected the one that was kept.",
    "An answer and its responses belong together; do not mix those of two people or two questions.",
  );
}

/** Keep the response that is out, or draw a fresh one: P₁ = share·P₂ + (1 − share)·base. */
export class KeepOrFresh {
  constructor(coarse, fine, share, base) {
    Object.assign(this, { coarse, fine, share, base });
  }

  upgrade(old, given, source) {
    const retention = this.share.times(this.fine.probability(old, given)).over(chanceOf(this.coarse, old, given));
    const kept = happens(retention, source);
    const fresh = this.fine.draw(given, source);
    return kept ? old : fresh;
  }

  degrade(fine, source) {
    const kept = happens(this.share, source);
    const other = this.base.draw(0n, source);
    return kept ? fine : other;
  }
}

/** Two diagonal channels on different sides of 1/k: C, a diagonal channel, sends the response itself less often. */
export class Crossed {
  constructor(coarse, fine, channel) {
    Object.assign(this, { coarse, fine, channel });
  }

  upgrade(old, given, source) {
    chanceOf(this.coarse, old, given);
    const named = old === given ? [given] : [given, old];
    const weights = named.map(
      (each) =>
        (each === old ? this.channel.same : this.channel.other) * (each === given ? this.fine.same : this.fine.other),
    );
    return this.#oneOf(named, weights, this.channel.other * this.fine.other, source);
  }

  degrade(fine, source) {
    return this.#oneOf([fine], [this.channel.same], this.channel.other, source);
  }

  #oneOf(named, weights, other, source) {
    const others = this.fine.size - BigInt(named.length);
    const at = choose(running([...weights, others * other]), source);
    let pick = below(others || 1n, source); // also where nothing else is left: as many words, whatever the answer is
    for (const each of [...named].sort((one, two) => (one < two ? -1 : 1))) if (pick >= each) pick += 1n;
    return at < named.length ? named[at] : pick;
  }
}

/** Two channels of independent bits; `garbling` says how often a coarser bit is 1 where the finer one is 1, or 0. */
export class BitByBit {
  constructor(coarse, fine, garbling) {
    Object.assign(this, { coarse, fine, garbling });
  }

  upgrade(old, given, source) {
    chanceOf(this.coarse, old, given);
    const own = 1n << given;
    const all = every(this.fine.size);
    const classes = [
      [old & own, this.#raised(true, this.fine.hit)],
      [old & ~own, this.#raised(true, this.fine.stray)],
      [own & ~old, this.#raised(false, this.fine.hit)],
      [all & ~old & ~own, this.#raised(false, this.fine.stray)],
    ];
    return tossed(this.fine.size, classes, source);
  }

  degrade(fine, source) {
    const classes = [[fine, this.garbling.one], [every(this.fine.size) & ~fine, this.garbling.zero]];
    return tossed(this.fine.size, classes, source);
  }

  /** Return the probability that a finer bit is 1, given the coarser one and the weight of a finer 1. */
  #raised(old, weight) {
    const fine = new Fraction(weight, this.fine.total);
    const { one, zero } = this.garbling;
    const ones = (old ? one : one.rest).times(fine);
    const all = ones.plus((old ? zero : zero.rest).times(fine.rest));
    return all.isZero ? ZERO : ones.over(all); // a bit that nobody holds may become anything
  }
}

/** Any two channels, with their garbling written out. */
export class Written {
  constructor(coarse, fine, channel) {
    Object.assign(this, { coarse, fine, channel });
  }

  upgrade(old, given, source) {
    chanceOf(this.coarse, old, given);
    const column = weightsOf(numbers(this.fine.responses).map((each) => this.fine.probability(each, given)));
    return BigInt(choose(running(column.map((weight, each) => this.channel.weights[old][each] * weight)), source));
  }

  degrade(fine, source) {
    return BigInt(choose(this.channel.sums[fine], source));
  }

  /** Whether P₁ = C·P₂, worked out cell by cell. */
  get isExact() {
    const { coarse, fine, channel } = this;
    if (!(channel instanceof Dense) || channel.answers !== fine.responses || channel.responses !== coarse.responses) {
      return false;
    }
    return numbers(fine.answers).every((given) => {
      const column = numbers(fine.responses).map((each) => fine.probability(each, given));
      return channel.weights.every((row, old) => {
        const sent = sum(column.map((chance, each) => chance.times(new Fraction(row[each], channel.total))));
        return sent.equals(coarse.probability(BigInt(old), given));
      });
    });
  }
}

/** A step for each factor of a product, one after the other. */
export class Factors {
  constructor(coarse, fine, steps) {
    Object.assign(this, { coarse, fine, steps });
  }

  upgrade(old, given, source) {
    const [responses, answers] = [split(old, this.coarse.sizes("responses")), split(given, this.fine.sizes("answers"))];
    const drawn = this.steps.map((step, place) => step.upgrade(responses[place], answers[place], source));
    return join(drawn, this.fine.sizes("responses"));
  }

  degrade(fine, source) {
    const responses = split(fine, this.fine.sizes("responses"));
    const drawn = this.steps.map((step, place) => step.degrade(responses[place], source));
    return join(drawn, this.coarse.sizes("responses"));
  }
}

/** A step between sets, where one or both channels send a single category under its own number. */
export class Recoded {
  constructor(coarse, fine, step) {
    Object.assign(this, { coarse, fine, step });
  }

  upgrade(old, given, source) {
    chanceOf(this.coarse, old, given);
    return told(this.fine, this.step.upgrade(asSet(this.coarse, old), given, source));
  }

  degrade(fine, source) {
    return told(this.coarse, this.step.degrade(asSet(this.fine, fine), source));
  }
}

function asSet(channel, response) {
  return channel.kind === "diagonal" ? 1n << response : response;
}

function told(channel, set) {
  return channel.kind === "diagonal" ? BigInt(set.toString(2).length - 1) : set;
}

function numbers(size) {
  return Array.from({ length: Number(size) }, (_, at) => BigInt(at));
}

/** Return C for one bit; null where the coarser bit cannot be made from the finer one. */
export function bitGarbling(coarse, fine) {
  const [hit, stray] = [new Fraction(coarse.hit, coarse.total), new Fraction(coarse.stray, coarse.total)];
  const [fineHit, fineStray] = [new Fraction(fine.hit, fine.total), new Fraction(fine.stray, fine.total)];
  const gap = fineHit.minus(fineStray);
  if (gap.isZero) return hit.equals(stray) ? { one: hit, zero: hit } : null;
  const one = hit.times(fineStray.rest).minus(stray.times(fineHit.rest)).over(gap);
  const zero = stray.times(fineHit).minus(hit.times(fineStray)).over(gap);
  return one.isChance && zero.isChance ? { one, zero } : null;
}
