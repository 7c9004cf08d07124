/** Which step leads from one channel to another: read from a file, or in closed form where it follows from the two. */
import { Diagonal, readChannel } from "./channels.js";
import { Fraction, ONE } from "./fraction.js";
import { Nested, oneSize } from "./nested.js";
import { Sets, Subset } from "./sets.js";
import { BitByBit, Crossed, Factors, KeepOrFresh, Recoded, Written, bitGarbling } from "./steps.js";
import { check, list, object, size, string, unreadable } from "./wire.js";

/** Read a step between two channels; refuse one that does not lead from the one to the other exactly. */
export function readStep(body, coarse, fine) {
  const kind = object(body).kind;
  const step = Object.hasOwn(KINDS, kind) ? KINDS[kind](body, coarse, fine) : null;
  if (step === null) throw unreadable("a step does not lead from the one design to the other exactly.");
  return step;
}

const KINDS = {
  derived(body, coarse, fine) {
    check(body, "kind");
    return closed(coarse, fine);
  },

  written(body, coarse, fine) {
    check(body, "kind", "channel");
    return exactly(new Written(coarse, fine, readChannel(body.channel)));
  },

  nested(body, coarse, fine) {
    check(body, "kind", "shares");
    const [one, two] = [asSets(coarse), asSets(fine)];
    if (!(one instanceof Sets && two instanceof Sets) || one.size !== two.size) return null;
    const step = exactly(new Nested(one, two, list(body.shares).map(readShare)));
    return one === coarse && two === fine ? step : step && new Recoded(coarse, fine, step);
  },

  factors(body, coarse, fine) {
    check(body, "kind", "steps");
    const parts = list(body.steps);
    if (coarse.kind !== "product" || fine.kind !== "product") return null;
    if (parts.length !== coarse.factors.length || parts.length !== fine.factors.length) return null;
    return factors(coarse, fine, (one, two, place) => readStep(parts[place], one, two));
  },
};

const FORMS = {
  "diagonal diagonal": diagonals,
  "hadamard hadamard": (coarse, fine) =>
    kept(coarse, fine, gap(coarse, "large", "small").over(gap(fine, "large", "small"))),
  "hashing hashing": (coarse, fine) =>
    coarse.values === fine.values
      ? kept(coarse, fine, gap(coarse, "same", "other").over(gap(fine, "same", "other")))
      : null,
  "subset subset": subsets,
  "subset mixture": (coarse, fine) => nested(coarse, fine, oneSize(coarse, fine)),
  "bits bits": (coarse, fine) => {
    const garbling = bitGarbling(coarse, fine);
    return garbling && new BitByBit(coarse, fine, garbling);
  },
  "product product": (coarse, fine) =>
    coarse.factors.length === fine.factors.length ? factors(coarse, fine, closed) : null,
};

/** Return the step from one channel to another where it is known in closed form, else null. */
function closed(coarse, fine) {
  if (coarse.answers !== fine.answers) return null;
  const form = FORMS[`${coarse.kind} ${fine.kind}`];
  if (form) return form(coarse, fine);
  if ((coarse.kind === "diagonal") === (fine.kind === "diagonal")) return null;
  const step = closed(asSets(coarse), asSets(fine));
  return step && new Recoded(coarse, fine, step);
}

function diagonals(coarse, fine) {
  const even = evenly(fine.size);
  if (coarse.same === fine.same && coarse.other === fine.other) return new KeepOrFresh(coarse, fine, ONE, even);
  if (gap(fine, "same", "other").isZero) return null;
  const share = gap(coarse, "same", "other").over(gap(fine, "same", "other"));
  if (share.isChance) return new KeepOrFresh(coarse, fine, share, even);
  const other = share.rest.over(new Fraction(fine.size));
  const same = share.plus(other);
  if (share.compare(ONE) > 0 || same.top < 0n) return null;
  return new Crossed(coarse, fine, new Diagonal(fine.size, same.top * other.bottom, other.top * same.bottom));
}

function subsets(coarse, fine) {
  const shares = oneSize(coarse, fine);
  if (shares && coarse.ones === fine.ones && shares[0].apart.isZero) {
    // The nearest set of the same size is the set itself.
    const even = new Subset(fine.size, fine.ones, fine.ones, fine.size);
    return new KeepOrFresh(coarse, fine, shares[0].near, even);
  }
  return nested(coarse, fine, shares);
}

function nested(coarse, fine, shares) {
  return shares && new Nested(coarse, fine, shares);
}

function kept(coarse, fine, share) {
  return share.isChance ? new KeepOrFresh(coarse, fine, share, evenly(fine.responses)) : null;
}

function factors(coarse, fine, find) {
  const steps = coarse.factors.map((factor, place) => find(factor, fine.factors[place], place));
  return steps.includes(null) ? null : new Factors(coarse, fine, steps);
}

/** Return the channel that sends each of so many responses equally often, whatever the answer. */
function evenly(responses) {
  return new Diagonal(responses, 1n, 1n);
}

/** Return a diagonal channel as one that sends sets of one category; others as they are. */
function asSets(channel) {
  return channel.kind === "diagonal" ? new Subset(channel.size, 1n, channel.same, channel.total) : channel;
}

/** Return by how much the one weight of a channel is larger than the other, over their total. */
function gap(channel, one, two) {
  return new Fraction(channel[one] - channel[two], channel.total);
}

function exactly(step) {
  return step.isExact ? step : null;
}

function readShare(row) {
  const [coarse, fine, ...parts] = list(row);
  if (parts.length !== 3) throw unreadable("the shares of a step are not whole sizes and three fractions.");
  const [near, apart, free] = parts.map(readFraction);
  return { coarse: size(coarse), fine: size(fine), near, apart, free };
}

function readFraction(text) {
  const found = /^([0-9]{1,9000})(?:\/([1-9][0-9]{0,8999}))?$/.exec(string(text));
  if (!found) throw unreadable("a share of a step is not a fraction.");
  return new Fraction(BigInt(found[1]), BigInt(found[2] ?? 1));
}
