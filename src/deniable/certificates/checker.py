"""Check certificates of `deniable` again, by this file and the standard library alone: python checker.py FILE …

It reads the document inside a certificate, works out every claim from the document's integers, and compares. Witnesses,
priors and garblings are taken from the certificate and verified; no other number of it is looked at before there is an
own one to stand beside it. What follows how, and what is not proved, is told in docs/theory/certificates.md.
"""
import hashlib, json, math, sys
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path
from typing import Any

# What is read, and numbers. Beyond these limits a certificate tells less, and does not say it is all.
LISTED, LONGEST, COMPARED, TERMS, NAMES = 256, 100_000, 1_000_000, 200_000, ("response", "likely", "unlikely")
Of = Callable[..., Any]
Body = dict[str, Any]  # an object of JSON, claims, or a channel as `law` tells it; an empty one where there is none
class Rejected(Exception):
    """Something in a certificate is not so."""
def check(holds: object, words: str) -> None:
    if not holds:
        raise Rejected(words)
def once(pairs: list[tuple[str, Any]]) -> Body:  # an object of JSON in which no name occurs twice
    check(len(dict(pairs)) == len(pairs), "a field occurs twice")
    return dict(pairs)
def canonical(value: object) -> str:  # the one text of a value, of which hashes are taken
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
def check_seals(value: object, where: str) -> None:  # the hash of a document, and of every document in it
    if isinstance(value, dict) and "schema" in value:
        body = canonical({name: field for name, field in value.items() if name != "hash"}).encode()
        check(value.get("hash") == f"sha256:{hashlib.sha256(body).hexdigest()}", f"{where} and its hash differ")
        kind = {"design": "design", "choice": "design", "ladder": "ladder"}.get(where.rpartition("/")[2])
        check(kind is None or value["schema"] == f"deniable/{kind}/1", f"{where} is no {kind}")
    for name, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        check_seals(item, f"{where}/{name}")
def whole(value: object) -> int:  # an integer of 0 or more: a number, or as text in base 10 or 16
    number = int(str(value), 0)
    check(number >= 0 and str(value) in (str(number), hex(number)), f"{value!r:.40} is no such integer")
    return number
def place(number: int) -> str:  # the number of a response
    return str(number) if number < 1 << 53 else hex(number)
def read(value: str) -> Fraction:  # a fraction in lowest terms
    check(text(Fraction(value)) == value, f"{value!r:.40} is no fraction in lowest terms")
    return Fraction(value)
def text(number: Fraction | float) -> str:
    return "inf" if number == math.inf else str(Fraction(number))
def ratio(p: Fraction | float, q: Fraction | float) -> Fraction | float:  # a/0 is infinite, and 0/0 tells nothing
    return Fraction(p) / q if q else math.inf if p else Fraction(1)
def log_above(parity: Fraction) -> float:  # the smallest float that is not below the logarithm
    with localcontext(prec=60 + max(parity.numerator.bit_length(), parity.denominator.bit_length())):
        exactly = (Decimal(parity.numerator) / Decimal(parity.denominator)).ln()
        return float(exactly) if Decimal(float(exactly)) >= exactly else math.nextafter(float(exactly), math.inf)
def merged(entries: Iterable[Sequence[Any]]) -> tuple[Any, ...]:  # groups of responses: those of one ratio are one
    groups: dict[Any, tuple[Any, Any]] = {}
    for p, q in entries:
        if p or q:
            first, second = groups.get(ratio(p, q), (0, 0))
            groups[ratio(p, q)] = first + p, second + q
    return tuple(groups[likelihood] for likelihood in sorted(groups))

# Channels: how likely a response is given an answer, up to a factor of the response; for pairs of answers the groups of
# responses (p, q), how probable each is under the one and the other; of each sort of response how many values its
# likelihoods have, and the ratio of the largest to the smallest.
def law(k: int, n: int, likelihood: Of, pairs: object, sorts: Sequence[tuple[int, Any]], **more: object) -> Body:
    check(n >= 2, "there are fewer than two responses")
    parity = max(largest for _, largest in sorts)
    admissible = None if parity == math.inf else set(sorts) == {(2, parity)}
    return dict(k=k, n=n, likelihood=likelihood, pairs=pairs, parity=parity, admissible=admissible, **more)
def dense(body: Body) -> Body:  # weights, a row for each response and a column for each answer
    total, rows = whole(body["total"]), [[whole(weight) for weight in row] for row in body["weights"]]
    columns = [[Fraction(weight, total) for weight in column] for column in zip(*rows, strict=True)]
    check(all(sum(column) == 1 for column in columns), "probabilities do not add up to 1")
    listed = len(columns) * (len(columns) - 1) * len(rows) <= COMPARED
    pairs = {merged(zip(*pair, strict=True)) for pair in permutations(columns, 2)} if listed else None
    sorts = [(len(set(row)), ratio(max(row), min(row))) for row in rows if any(row)]
    return law(len(columns), len(rows), lambda i, j: rows[i][j], pairs, sorts, total=total)
# No answer is unlike another: halves are the groups that speak for one and against the other, under the one and other.
def alike(k: int, n: int, likelihood: Of, halves: Sequence[Sequence[Any]], **more: object) -> Body:
    idle = 1 - sum(p + q for p, q in halves)
    sorts = [(2 - (p == q), max(ratio(p, q), ratio(q, p))) for p, q in halves]
    return law(k, n, likelihood, {merged([*halves, *((q, p) for p, q in halves), (idle, idle)])}, sorts, **more)
def two_weights(k: int, n: int, apart: int, pair: list[int], backs: int, holds: Of, even: bool, **more: object) -> Body:
    total = backs * pair[0] + (n - backs) * pair[1]  # given answers that it supports, and given all others
    half, at = ([Fraction(times * weight, total) for weight in pair] for times in (apart, n))
    return alike(k, n, lambda i, j: pair[not holds(i, j)], [half, (0, 0)][: 1 + even], at=at, total=total, **more)
def diagonal(body: Body) -> Body:  # the answer itself with weight `same`, each other one with `other`: a set of one
    k, same, unlike = (whole(body[name]) for name in ("size", "same", "other"))
    sizes = {1: (1, Fraction(same, same + (k - 1) * unlike))}
    return two_weights(k, k, 1, [same, unlike], 1, lambda i, j: i == j, False, sizes=sizes)
def hadamard(body: Body) -> Body:  # row i + 1 supports j where i + 1 and j + 1 have an even number of ones in common
    k, *weights = (whole(body[name]) for name in ("size", "large", "small"))
    order, even = 1 << k.bit_length(), lambda i, j: (i + 1 & j + 1).bit_count() % 2 == 0
    return two_weights(k, order - 1, order // 4, weights, order // 2 - 1, even, k == 2, levels=("hadamard", k))
def hashing(body: Body) -> Body:  # hash·q + value; hashes are the linear forms over q values with highest coefficient 1
    k, q, *weights = (whole(body[name]) for name in ("size", "values", "same", "other"))
    prime = next((d for d in range(2, math.isqrt(q) + 1) if q % d == 0), q)
    check(any(prime**r == q for r in range(1, 9)), "there is no field of so many values")
    power = next(q**m for m in range(64) if q ** (m + 1) >= k)
    hashes = (power * q - 1) // (q - 1)  # the first of them is the last digit; others are not looked up
    return two_weights(k, hashes * q, power, weights, hashes, lambda i, j: i == j % q, k <= (q - 1) * power,
                       first=q, levels=("hashing", k, q))
def sets(body: Body) -> Body:  # each size with its weight, and the weight of the answer being in; the rest is even
    k, total = whole(body["size"]), whole(body["total"])
    rows = body["parts"] if body["kind"] == "mixture" else [{**body, "weight": body["total"]}]
    parts = {whole(row["ones"]): (whole(row["weight"]), whole(row["inside"])) for row in rows}
    check(len(parts) == len(rows) and sum(w for w, _ in parts.values()) == total, "weights of sizes do not add up to 1")
    check(all(total * (t == k) <= p <= total * (0 < t <= k) for t, (_, p) in parts.items()), "a set is ill filled")
    sizes = {t: (Fraction(w, total), Fraction(w * inside, total**2)) for t, (w, inside) in parts.items() if w}
    halves = [(p_in * (k - t) / (k - 1), (p - p_in) * t / (k - 1)) for t, (p, p_in) in sizes.items()]
    def likelihood(i: int, j: int) -> int:
        t, w = i.bit_count(), parts.get(i.bit_count(), (0, 0))[1]
        return int(t in sizes) if t not in sizes or t in (0, k) else w * (k - t) if i >> j & 1 else (total - w) * t
    return alike(k, 1 << k, likelihood, halves, sizes=sizes)
def bits(body: Body) -> Body:  # the answer's own is 1 with weight `hit` of `total`, each other one with weight `stray`
    k, hit, stray, total = (whole(body[name]) for name in ("size", "hit", "stray", "total"))
    check(max(hit, stray) <= total, "a weight is above the total")
    p, q, true, false = Fraction(hit, total), Fraction(stray, total), hit * (total - stray), stray * (total - hit)
    likelihood: Of = lambda i, j: 1 if i.bit_count() in (0, k) else true if i >> j & 1 else false
    return alike(k, 1 << k, likelihood, [(p * (1 - q), q * (1 - p)), (0, 0)], bit=(k, p, q))
def tossed(n: int, m: int, p: Fraction, q: Fraction) -> list[Fraction]:  # ones among so many bits of each chance
    binomial: Any = lambda n, a, p: math.comb(n, a) * p**a * (1 - p) ** (n - a)
    return [binomial(n, a, p) * binomial(m, b, q) for a in range(n + 1) for b in range(m + 1)]
KINDS = {"dense": dense, "diagonal": diagonal, "hadamard": hadamard, "hashing": hashing, "subset": sets,
         "mixture": sets, "bits": bits}

# Garblings: a stage P₁ = C·P₂ says nothing that the next one does not say.
def check_step(drawn: Body, step: Body, old: Body, new: Body) -> None:  # `drawn` is what the document says of it
    same = {"written": drawn.get("channel") == {**step, "kind": "dense"}, "nested": drawn == {**step, "kind": "nested"}}
    check({**same, "derived": True, "factors": True}[drawn["kind"]], "responses are drawn by another garbling")
    inner, holds = drawn.get("steps", [drawn] * len(step.get("steps", ()))), step["kind"] == "factors"
    for factor in zip(inner, step["steps"], old["factors"], new["factors"], strict=True) if holds else ():
        check_step(*factor)
    if step["kind"] == "keep":  # a response is kept with probability `share`, else any is drawn evenly
        share, same = read(step["share"]), old["levels"] == new["levels"]
        holds = same and 0 <= share <= 1 and [share * p + 1 - share for p in new["at"]] == old["at"]
    elif step["kind"] == "bits":  # each by itself: 1 with probability `hit` where it was 1, with `stray` where it was 0
        (k, *coarse), (same, *fine), chances = old["bit"], new["bit"], [read(step["hit"]), read(step["stray"])]
        garbled = [chances[0] * p + chances[1] * (1 - p) for p in fine]
        holds = k == same and 0 <= min(chances) <= max(chances) <= 1 and garbled == coarse
    elif step["kind"] == "sets":
        holds = nested([[*map(whole, row[:2]), *map(read, row[2:])] for row in step["shares"]], old["sizes"], new)
    elif step["kind"] == "table":
        c, (a, b, p) = dense(step), (dense(step)["likelihood"], old["likelihood"], new["likelihood"])
        cells = [(sum(a(i, u) * p(u, j) for u in range(new["n"])) * old["total"], b(i, j) * c["total"] * new["total"])
                 for j in range(new["k"]) for i in range(old["n"])]
        holds = (c["n"], c["k"]) == (old["n"], new["n"]) and all(coarse == fine for coarse, fine in cells)
    check(holds, "a stage is not the garbling of the next that is claimed")
def nested(shares: list[list[Any]], old: Body, new: Body) -> bool:  # sets near to a finer one, far from it, or free
    k, sizes = new["k"], dict.fromkeys(old, (0, 0))
    fine = all(sum(sum(row[2:]) for row in shares if row[1] == t) == 1 for t in new["sizes"])
    check(fine and all(min(row[2:]) >= 0 for row in shares), "shares are negative, or do not add up to 1")
    for s, t, *ways in shares:
        weight, inside = new["sizes"][t]
        for mass, shared in zip(ways, (min(s, t), max(0, s + t - k), Fraction(s * t, k)), strict=True):
            # The two share so many members; so often is the answer among the s, if it is among the t and if it is not.
            p = (inside * shared / t if t else 0) + ((weight - inside) * (s - shared) / (k - t) if t < k else 0)
            sizes[s] = sizes[s][0] + weight * mass, sizes[s][1] + p * mass
    return sizes == old

# What is claimed, worked out anew. Each of these returns it, and the channel that it is claimed of.
def guarantee(parity: Any, delta: Of | None) -> Body:  # without δ, the bound that the parity gives by itself
    steps = [Fraction(2) ** at if parity == math.inf else 1 + (parity - 1) * Fraction(at * at, 64) for at in range(9)]
    bound: Of = lambda gamma: 1 if parity == math.inf else (parity - gamma) / (parity + 1)
    curve = [{"gamma": text(gamma), "delta": text((delta or bound)(gamma))} for gamma in steps]
    epsilon = "inf" if parity == math.inf else repr(log_above(parity))
    return {"parity": text(parity), "epsilon": epsilon, "delta": {"exact": bool(delta), "curve": curve}}
def delta_of(pairs: set[Any] | None) -> Any:
    return pairs and (lambda gamma: max(sum(max(0, p - gamma * q) for p, q in pair) for pair in pairs))
def channel(body: Body, stated: Body) -> tuple[Body, Body]:
    worked = KINDS[body["kind"]](body)
    k, n, likelihood = worked["k"], worked["n"], worked["likelihood"]
    i, *pair = (whole(stated["witness"][name]) for name in NAMES)
    attained = ratio(*(likelihood(i, j) for j in pair)) == worked["parity"]
    check(attained and i < worked.get("first", n) and max(pair) < k, "this is no witness of the parity")
    prior = [read(share) for share in stated["prior"]] if "prior" in stated else None
    check(not prior or (len(prior) == k and sum(prior) == 1 and min(prior) >= 0), "the prior is no distribution")
    small = k * n <= LISTED and "first" not in worked
    listed = [(y, [*range(k)]) for y in range(n)] if small else [(i, pair)] if k <= LONGEST else []
    claims = {**guarantee(worked["parity"], delta_of(worked["pairs"])), "admissible": worked["admissible"],
              "witness": dict(zip(NAMES, map(place, (i, *pair)), strict=True)),
              "table": [factors([likelihood(y, j) for j in range(k)], y, answers, prior) for y, answers in listed]}
    return claims | ({"prior": list(map(text, prior))} if prior else {}), worked
def factors(row: list[int], response: int, answers: list[int], prior: list[Fraction] | None) -> Body:  # and posteriors
    bayes = [{"answer": j, "least": text(ratio(row[j], max(against))), "most": text(ratio(row[j], min(against)))}
             for j in answers for against in [row[:j] + row[j + 1 :]]]
    joint = [share * p for share, p in zip(prior or (), row, strict=False)]
    after = [text(joint[j] / sum(joint)) for j in answers] if any(joint) else None
    return {"response": place(response), "factors": bayes} | ({"posterior": after} if prior else {})
def design(body: Body, stated: Body) -> tuple[Body, Body]:
    if "factors" in body:
        return together(attributes(body), None, stated)
    claims, worked = channel(body["channel"], stated)
    for labels, size in ((body["categories"], worked["k"]), (body["symbols"], worked["n"])):
        n = 1 << whole(labels["bits"]) if type(labels) is dict else len(set(labels)) if type(labels) is list else labels
        check(n == size, "there are other labels than the channel has answers and responses")
    return claims, worked
def attributes(body: Body) -> dict[str, Any]:
    return {factor["attribute"]: (design, factor["design"]) for factor in body["factors"]}
def together(parts: dict[str, Any], each: Any, stated: Body) -> tuple[Body, Body]:  # all, or those drawn
    check(each is None or 1 <= whole(each) < len(parts), "more parts are drawn than there are")
    worked = {name: work(body, stated["parts"][name]) for name, (work, body) in parts.items()}
    laws = [law for _, law in worked.values()]
    parities = sorted((law["parity"] for law in laws), reverse=True)[:each]
    pairs: Any = {((1, 1),)}
    for law in laws:
        listed = pairs and law["pairs"] and sum(map(len, pairs)) * sum(map(len, law["pairs"])) <= TERMS
        products = product(pairs, law["pairs"]) if listed else ()
        pairs = {merged((p * r, q * s) for p, q in first for r, s in second) for first, second in products}
    parity = math.inf if math.inf in parities else math.prod(parities, start=Fraction(1))
    delta = delta_of(pairs) if each is None else None
    if each == 1 and all(law["pairs"] for law in laws):
        delta = lambda gamma: sum(delta_of(law["pairs"])(gamma) for law in laws) / len(laws)
    rule = {"rule": "all"} if each is None else {"rule": "some", "each": each}
    claims = {**rule, **guarantee(parity, delta), "parts": {name: part for name, (part, _) in worked.items()}}
    return claims, {"parity": parity, "pairs": pairs, "factors": laws}
def ladder(body: Body, stated: Body) -> tuple[Body, Body]:
    parts = [design(*stage) for stage in zip(body["designs"], stated["parts"], strict=True)]
    for drawn, step, (_, old), (_, new) in zip(body["steps"], stated["garblings"], parts[:-1], parts[1:], strict=True):
        check_step(drawn, step, old, new)
    check(len({canonical(stage.get("categories")) for stage in body["designs"]}) == 1, "stages have other categories")
    claims = {"rule": "last", "parts": [part for part, _ in parts], "garblings": stated["garblings"]}
    return claims | {name: parts[-1][0][name] for name in ("parity", "epsilon", "delta")}, parts[-1][1]
def survey(body: Body, stated: Body) -> tuple[Body, Body]:
    parts = {q["name"]: (ladder, q["ladder"]) if "ladder" in q else (design, q["design"]) for q in body["questions"]}
    check(sum("schema" in part for _, part in parts.values()) == len(body["questions"]), "one name twice, or no seal")
    return together(parts, body.get("each"), stated)
def strings(body: Body, stated: Body) -> tuple[Body, Body]:  # filters of up to h ones, each bit randomized by itself
    (k, hit, stray), bloom = KINDS[body["channel"]["kind"]](body["channel"])["bit"], body["bloom"]
    i, *filters = (whole(stated["witness"][name]) for name in NAMES)
    most, differing = min(17, whole(bloom["hashes"])), [j for j in range(k) if (filters[0] ^ filters[1]) >> j & 1]
    numbers = [(ones, min(most, k - ones)) for ones in range(1, min(most, k - 1) + 1)]
    pairs = {merged(zip(tossed(n, m, hit, stray), tossed(n, m, stray, hit), strict=True)) for n, m in numbers}
    parity = max(ratio(p, q) for pair in pairs for p, q in pair)
    chances = [math.prod(abs((~i >> j & 1) - (hit if true >> j & 1 else stray)) for j in differing) for true in filters]
    fits = k == whole(bloom["bits"]) and max(i, *filters) < 1 << k and most <= 16
    check(fits and all(ones.bit_count() <= most for ones in filters) and ratio(*chances) == parity, "no witness")
    claims = {"rule": "bits", "witness": dict(zip(NAMES, map(place, (i, *filters)), strict=True))}
    return claims | guarantee(parity, delta_of(pairs)), {}
def items(body: Body, stated: Body) -> tuple[Body, Body]:  # an item is drawn evenly and named; or one of ℓ places is
    scheme, m = body["scheme"], body["items"] if type(body["items"]) is int else len(set(body["items"]))
    if scheme["kind"] == "index":
        return channel(scheme["symbol"], stated)
    places, marked = whole(scheme["padding"]), whole(stated["witness"]["marked"])
    if scheme["kind"] == "unary":  # by how much an item in the drawn place multiplies the chance of a vector of symbols
        p = KINDS[scheme["symbol"]["kind"]](scheme["symbol"])["likelihood"]
        check(all(p(i, j) == p(-i % 3, -j % 3) for i in range(3) for j in range(3)), "+ and − are treated differently")
        signs: list[Any] = [ratio(p(1, j), p(1, 0)) for j in (1, 2)]
        vectors: dict[int, Any] = {a: (min(a, places), [ratio(p(0, 1), p(0, 0))] * min(m - a, places) + [1] * places)
                                   for a in (*range(places + 1), *range(m - places, m + 1))}
    else:  # 1 marked: an item with a sign is sent; 0: nothing is
        *signs, stray, total = (whole(scheme[name]) for name in ("same", "turned", "other", "total"))
        nothing, idle = total - sum(signs) - 2 * (m - 1) * stray, total - 2 * m * stray
        check(scheme["kind"] == "direct" and min(nothing, idle) >= 0 < stray, "weights do not add up to 1")
        vectors = {1: (1, [stray] * places), 0: (0, [nothing] * places + [idle] * places)}
    ratios = {a: ratio(sum(sorted([max(signs)] * n + pad)[-places:]), sum(sorted([min(signs)] * n + pad)[:places]))
              for a, (n, pad) in vectors.items()}
    check(1 <= places <= m and ratios.get(marked) == max(ratios.values()), "there are too many places, or no witness")
    return {"rule": "padded", **guarantee(max(ratios.values()), None), "witness": {"marked": place(marked)}}, {}
def deck(body: Body, stated: Body) -> tuple[Body, Body]:  # against a collector who knows the cards of all others
    counts, seen, i = [*map(whole, body["counts"])], whole(body["people"]) - 1, whole(stated["witness"]["response"])
    cards, left, rows = sum(counts), sum(counts) - seen, list(zip(counts, counts[::-1], strict=True))
    apart = {at: pair for at, pair in enumerate(rows) if 2 * at + 1 != len(counts) and pair[0]}
    ratios = {at: ratio(a, max(b - seen, 0)) for at, (a, b) in apart.items()}
    hands = [(x, y, math.comb(a, x) * math.comb(b, y) * math.comb(cards - a - b, left - x - y))
             for a, b in apart.values() for x in range(1, min(a, left) + 1) for y in range(min(b, left - x) + 1)]
    delta: Of = lambda g: sum(max(0, x - g * y) * w for x, y, w in hands) / (math.comb(cards, left) * left)
    check(seen >= 1 and ratios.get(i) == max(ratios.values()), "there are too few people, or it is no witness")
    alone, _ = channel({"kind": "dense", "total": cards, "weights": rows}, stated["alone"])
    return {"rule": "deck", "witness": {"response": place(i)}, "alone": alone} | guarantee(ratios[i], delta), {}
SUBJECTS: dict[str, Of] = {"design": design, "ladder": ladder, "survey": survey, "deck": deck, "keyvalue-design": items,
            "string-design": strings, "one-edge-design": lambda body, stated: design(body["choice"], stated),
            "drawn-design": lambda body, stated: together(attributes(body), body["each"], stated)}
def compare(own: Any, stated: Any, where: str) -> None:
    inside = isinstance(own, dict | list) and type(own) is type(stated) and len(own) == len(stated)
    for name in (own if isinstance(own, dict) else range(len(own))) if inside else ():
        compare(own[name], stated[name], f"{where}/{name}")
    if not inside and canonical(own) != canonical(stated):
        raise Rejected(f"{where} is {canonical(stated):.60}; expected {canonical(own):.60}")
def verify(source: str | bytes) -> Body:  # what a certificate holds; or `Rejected` is raised
    try:
        certificate: Body = json.loads(source, object_pairs_hook=once)
        check(set(certificate) == {"schema", "document", "claims", "caveats", "hash"}, "these are not its fields")
        check(certificate["schema"] == "deniable/certificate/1", "it is of another version")
        check_seals(certificate, "the certificate")
        work = SUBJECTS[certificate["document"]["schema"].removeprefix("deniable/").removesuffix("/1")]
        compare(work(certificate["document"], certificate["claims"])[0], certificate["claims"], "claims")
    except Exception as error:  # whatever goes wrong, it is not accepted
        raise Rejected(str(error) if type(error) is Rejected else f"it holds other things: {error!r:.80}") from None
    return certificate
if __name__ == "__main__":
    sys.set_int_max_str_digits(0)
    for path in sys.argv[1:]:
        try:
            found = verify(Path(path).read_bytes())
        except Rejected as error:
            sys.exit(f"{path}: REJECTED: {error}")
        words = f"ε = {found['claims']['epsilon']}, parity {found['claims']['parity']}, of {found['document']['hash']}"
        print(f"{path}: accepted: {words}", *found["caveats"], sep="\n  ")
