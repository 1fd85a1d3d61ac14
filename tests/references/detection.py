"""References of detection: pairs of boxes in one matrix, lists that are sorted, curves point by point."""

import itertools
import math

import numpy as np


def overlaps(boxes, others):
    """The overlap of each pair of boxes, given as x1, y1, x2, y2."""
    (low, high), (other_low, other_high) = (
        np.sort(one[:, :4].reshape(-1, 2, 2), 1).swapaxes(0, 1) for one in (boxes, others)
    )
    common = np.clip(np.minimum(high[:, None], other_high) - np.maximum(low[:, None], other_low), 0, None).prod(-1)
    covered = (high - low).prod(-1)[:, None] + (other_high - other_low).prod(-1) - common
    return np.where(common > 0, common / np.where(covered > 0, covered, 1), 0)


def parts(starts):
    """Each sequence as a slice."""
    return [slice(*pair) for pair in itertools.pairwise(starts)]


def priorbox(inputs, params, attributes):
    x, image = inputs["x"], inputs["image"]
    (rows, columns), (height, width) = x.shape[2:], image.shape[2:]
    sides = []
    for place, size in enumerate(attributes["min_size"]):
        sides.append((size, size))
        if attributes["max_size"]:
            sides.append(((size * attributes["max_size"][place]) ** 0.5,) * 2)
        for ratio in attributes["aspect_ratio"] or ():
            if ratio != 1:
                sides += [(size * r**0.5, size * r**-0.5) for r in (ratio, 1 / ratio)]
    v, u = np.meshgrid(
        (np.arange(rows) * 2 + 1) / (2 * rows), (np.arange(columns) * 2 + 1) / (2 * columns), indexing="ij"
    )
    middles = np.stack([u, v], -1).reshape(-1, 1, 2)
    reach = np.array(sides)[None] / (2 * width, 2 * height)
    corners = np.clip(np.concatenate([middles - reach, middles + reach], -1), 0, 1).reshape(-1, 4)
    boxes = np.concatenate([corners, np.tile(attributes["variance"], (len(corners), 1))], 1)
    return {"y": np.tile(boxes, (len(x), 1, 1))}


def from_maps(maps, width):
    """Numbers of all boxes, `width` of each, by scales, cells and boxes of a cell."""
    return np.concatenate([one.transpose(0, 2, 3, 1).reshape(len(one), -1, width) for one in maps], 1)


def heads(inputs, attributes):
    """Locations and probabilities; the sums are made one by one, so that equal scores give equal bits."""
    maps = inputs["maps"]
    half = len(maps) // 2
    scores = from_maps(maps[half:], attributes["num_classes"])
    powers = np.vectorize(math.exp)(scores - scores.max(-1, keepdims=True))
    return from_maps(maps[:half], 4), powers / np.add.accumulate(powers, -1)[..., -1:]


def matched(common, threshold):
    """The box of each default box, or -1: best pairs first, then what overlaps enough."""
    match = np.full(common.shape[1], -1)
    pairs = [(-common[t, b], b, t) for t, b in np.argwhere(common > 1e-6)]
    done = set()
    for _, b, t in sorted(pairs):
        if match[b] < 0 and t not in done:
            match[b] = t
            done.add(t)
    for b in np.flatnonzero(match < 0):
        if len(common) and common[:, b].max() >= max(threshold, 1e-6):
            match[b] = common[:, b].argmax()
    return match


def multibox_loss(inputs, params, attributes):
    locations, probability = heads(inputs, attributes)
    logs, background = np.log(probability), attributes["background_id"]
    costs, matches = [], 0
    for n, part in enumerate(parts(inputs["box.starts"][-1])):
        prior, box, label = inputs["prior"][n], inputs["box"][part], inputs["label"][part]
        common = overlaps(box, prior)
        match = matched(common, attributes["overlap_threshold"])
        found = np.flatnonzero(match >= 0)
        free = (match < 0) & (common.max(0, initial=0) < attributes["neg_overlap"])
        sure = np.delete(probability[n], background, axis=1).max(1)
        hard = sorted(np.flatnonzero(free), key=lambda b, sure=sure: -sure[b])[
            : int(len(found) * attributes["neg_pos_ratio"])
        ]
        cost = -logs[n, hard, background].sum()
        for b in found:
            (low, high), (own_low, own_high) = (np.sort(one.reshape(2, 2), 0) for one in (prior[b, :4], box[match[b]]))
            size, own = high - low, own_high - own_low
            target = np.concatenate([(own_low + own_high - low - high) / 2 / size, np.log(own / size)]) / prior[b, 4:]
            away = np.abs(locations[n, b] - target)
            cost += np.where(away < 1, away**2 / 2, away - 0.5).sum() - logs[n, b, label[match[b]]]
        costs.append(cost)
        matches += len(found)
    return {"cost": np.array(costs), "divisor": max(matches, 1)}


def suppressed(corners, scores, attributes):
    """Boxes of a class that are kept, the best first."""
    likely = [b for b in np.argsort(-scores, kind="stable") if scores[b] > attributes["confidence_threshold"]]
    kept = []
    for b in likely[: attributes["nms_top_k"]]:
        if not kept or overlaps(corners[[b]], corners[kept]).max() <= attributes["nms_threshold"]:
            kept.append(b)
    return kept


def detection_output(inputs, params, attributes):
    locations, probability = heads(inputs, attributes)
    prior = inputs["prior"]
    low, high = np.minimum(prior[..., :2], prior[..., 2:4]), np.maximum(prior[..., :2], prior[..., 2:4])
    variance = prior[..., 4:]
    middle = (low + high) / 2 + variance[..., :2] * locations[..., :2] * (high - low)
    size = (high - low) * np.exp(variance[..., 2:] * locations[..., 2:])
    corners = np.concatenate([middle - size / 2, middle + size / 2], -1)
    found, lengths = [], []
    for n in range(len(prior)):
        classes = [c for c in range(attributes["num_classes"]) if c != attributes["background_id"]]
        own = [(c, b) for c in classes for b in suppressed(corners[n], probability[n, :, c], attributes)]
        own = sorted(own, key=lambda pair, n=n: -probability[n, pair[1], pair[0]])[: attributes["keep_top_k"]]
        found += [(c, probability[n, b, c], *np.clip(corners[n, b], 0, 1)) for c, b in own]
        lengths.append(len(own))
    table = np.array(found).reshape(-1, 6)
    return {"label": table[:, 0].astype(int), "score": table[:, 1], "box": table[:, 2:], "lengths": lengths}


def judged(inputs, part, truth, attributes):
    """Boxes found in an image: class, score, and whether each is right; those that do not count are left out."""
    common = overlaps(inputs["box"][part], inputs["truth_box"][truth])
    score, label, classes = inputs["score"].ravel()[part], inputs["label"][part], inputs["truth"][truth]
    difficult = np.zeros(len(classes)) if inputs["difficult"] is None else inputs["difficult"][truth]
    met = set()
    for r in np.argsort(-score, kind="stable"):
        same = np.where(classes == label[r], common[r], -1.0)
        best = int(same.argmax()) if len(same) and same.max() > attributes["overlap_threshold"] else None
        if best is not None and difficult[best] and not attributes["evaluate_difficult"]:
            continue
        yield label[r], score[r], best is not None and best not in met
        met.add(best)


def detection_map(inputs, params, attributes):
    both = zip(parts(inputs["box.starts"][-1]), parts(inputs["truth.starts"][-1]), strict=True)
    found = [one for part, truth in both for one in judged(inputs, part, truth, attributes)]
    counted = np.ones(len(inputs["truth"]), bool)
    if inputs["difficult"] is not None and not attributes["evaluate_difficult"]:
        counted = inputs["difficult"] == 0
    areas = []
    for c in set(inputs["truth"][counted]) - {attributes["background_id"]}:
        there = (inputs["truth"][counted] == c).sum()
        bins = sorted({min(int(s * attributes["bins"]), attributes["bins"] - 1) for k, s, _ in found if k == c})
        curve = []
        for edge in reversed(bins):
            ahead = [right for k, s, right in found if k == c and int(s * attributes["bins"]) >= edge]
            curve.append((sum(ahead) / there, sum(ahead) / len(ahead)))
        if attributes["ap_type"] == "INTEGRAL":
            recalls = [0.0, *(recall for recall, _ in curve)]
            areas.append(sum(p * gain for (_, p), gain in zip(curve, np.diff(recalls), strict=True)))
        else:
            points = [max([p for r, p in curve if r >= at / 10 - 1e-9], default=0.0) for at in range(11)]
            areas.append(np.mean(points))
    return {"report": {"": np.mean(areas) if areas else np.nan}}


def half_up(values):
    return np.sign(values) * np.floor(np.abs(values) + 0.5)


def roi_pool(inputs, params, attributes):
    x, y = inputs["x"], []
    grid = attributes["pooled_height"] or attributes["pooled_width"], attributes["pooled_width"]
    for n, part in enumerate(parts(inputs["box.starts"][-1])):
        for box in half_up(inputs["box"][part] * attributes["spatial_scale"]).astype(int):
            pooled = np.zeros((x.shape[1], *grid))
            sizes = [max(box[k + 2] - box[k] + 1, 1) for k in (1, 0)]
            for at in np.ndindex(*grid):
                first = [box[1 - k] + at[k] * sizes[k] // grid[k] for k in (0, 1)]
                last = [box[1 - k] + -(-(at[k] + 1) * sizes[k] // grid[k]) for k in (0, 1)]
                bin_ = x[n, :, max(first[0], 0) : max(last[0], 0), max(first[1], 0) : max(last[1], 0)]
                if bin_[0].size:
                    pooled[:, at[0], at[1]] = bin_.max((1, 2))
            y.append(pooled)
    return {"y": np.array(y).reshape(-1, x.shape[1], *grid)}


def weights(low, high, count, extent, attributes):
    """What each bin takes of each pixel along an axis: a hat around each place, at the border that of the border."""
    low, high = low * attributes["spatial_scale"], high * attributes["spatial_scale"]
    size = high - low if attributes["aligned"] else max(high - low, 1.0)
    each = attributes["sampling_ratio"] or max(int(np.ceil(size / count)), 0)
    places = low - attributes["aligned"] / 2 + size / count * (np.arange(count * each) + 0.5) / max(each, 1)
    inside = np.clip(places, 0, extent - 1)[:, None]
    hats = np.clip(1 - np.abs(inside - np.arange(extent)), 0, None) * ((places >= -1) & (places <= extent))[:, None]
    return hats.reshape(count, each, extent).sum(1) / max(each, 1)


def roi_align(inputs, params, attributes):
    x, y = inputs["x"], []
    grid = attributes["pooled_height"] or attributes["pooled_width"], attributes["pooled_width"]
    for n, part in enumerate(parts(inputs["box.starts"][-1])):
        for x1, y1, x2, y2 in inputs["box"][part]:
            rows = weights(y1, y2, grid[0], x.shape[2], attributes)
            columns = weights(x1, x2, grid[1], x.shape[3], attributes)
            y.append(np.einsum("chw,ph,qw->cpq", x[n], rows, columns))
    return {"y": np.array(y).reshape(-1, x.shape[1], *grid)}


def rotate(inputs, params, attributes):
    return {"y": np.rot90(inputs["x"], -1, (2, 3))}


REFERENCES = {
    "priorbox": priorbox,
    "multibox_loss": multibox_loss,
    "detection_output": detection_output,
    "detection_map": detection_map,
    "roi_pool": roi_pool,
    "roi_align": roi_align,
    "rotate": rotate,
}
