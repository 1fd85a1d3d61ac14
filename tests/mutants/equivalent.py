"""Mutants that mean the same as what they are made of, each with the reason; they are not counted.

The key is the function with its lines before and after the change. A change that does make a difference, and that no
check notices, does not belong here.
"""

from __future__ import annotations

ROTATED = "the sum goes over all of an axis, and place -1 is its last one"

FOLDED = "nothing is None besides None itself: the comparison is folded to what it was"

CORNERS = "boxes are two opposite corners, in either order"

MEET = "the pieces meet there: either gives the same number"

RATIOS = "a cell has two boxes for each ratio, and one of these has returned before"

AWAY = "how far two numbers are from each other is the same in either order"

BELOW_ZERO = "what counts is whether it is below zero"

WIDER = "a wider range: what is not read there adds nothing"

NO_LIMITS = "without limits the factor is 1 and the summand 0"

SHARED, COVERED = (
    "common = shared(x1, x2, u1, u2) * shared(y1, y2, v1, v2)",
    "covered = abs((x2 - x1) * (y2 - y1)) + abs((u2 - u1) * (v2 - v1)) - common",
)

EQUIVALENT: dict[tuple[str, str, str], str] = {
    (
        "random_normal_y",
        "return radius * cosine_of_turn(uniform(key, 2 * i + 1))",
        "return radius * cosine_of_turn(uniform(key, 2 * i - 1))",
    ): "every angle still has a uniform number of its own",
    (
        "multi_binary_label_cross_entropy_cost",
        "cost += log_rest(x[n, label_id[p]], floor) - log_from(x[n, label_id[p]], floor)",
        "cost += log_rest(x[n, label_id[p]], floor) - log_from(floor, x[n, label_id[p]])",
    ): "the larger of both, in either order; NaN is in the other term, too",
    (
        "hinge_loss_dx",
        "return -2.0 * sign * dcost[n] * missing",
        "return -2.0 / sign * dcost[n] * missing",
    ): "the sign is 1 or -1",
    (
        "ctc_following",
        "for v in range(u + 1, min(2 * count[s] + 1, U)):",
        "for v in range(u + 1, min(3 * count[s] + 1, U)):",
    ): "alpha is -inf in the states after the last one, which adds nothing",
    ("jaccard", SHARED, "common = shared(x1, x2, u1, u2) * shared(y2, y1, v1, v2)"): CORNERS,
    ("jaccard", SHARED, "common = shared(x2, x1, u1, u2) * shared(y1, y2, v1, v2)"): CORNERS,
    ("jaccard", SHARED, "common = shared(x1, x2, u2, u1) * shared(y1, y2, v1, v2)"): CORNERS,
    ("jaccard", COVERED, COVERED.replace("x2 - x1", "x1 - x2")): CORNERS,
    ("jaccard", COVERED, COVERED.replace("u2 - u1", "u1 - u2")): CORNERS,
    ("jaccard", COVERED, COVERED.replace("v2 - v1", "v1 - v2")): CORNERS,
    ("detection_map_hit", "first = -1", "first = -2"): BELOW_ZERO,
    (
        "detection_map_place",
        "return min(int(score[r] * real(M)), M - 1) if score[r] >= 0.0 and score[r] <= 1.0 else -1",
        "return min(int(score[r] * real(M)), M - 1) if score[r] >= 0.0 and score[r] <= 1.0 else -2",
    ): BELOW_ZERO,
    (
        "detection_map_hit",
        "if hit[r] == LEFT and (first < 0 or score[r] > score[first]):",
        "if hit[r] == LEFT and (first < 0 or score[r] >= score[first]):",
    ): "boxes of a class that are equally sure count in one bin, whichever of them is the right one",
    ("jaccard", SHARED, "common = shared(x1, x2, u1, u2) * shared(y1, y2, v2, v1)"): CORNERS,
    ("jaccard", COVERED, COVERED.replace("y2 - y1", "y1 - y2")): CORNERS,
    (
        "detection_map_outside",
        "return 1.0 if place[r] < 0 else 0.0",
        "return 2.0 if place[r] < 0 else 0.0",
    ): "what counts is whether there are any",
    ("aspect", "return 1.0", "return 2.0"): RATIOS,
    ("aspect", "for j in range(len(ratios)):", "for j in range(len(ratios) + 1):"): RATIOS,
    (
        "aspect",
        "if abs(ratios[j] - 1.0) > RATIO_OF_SQUARE:",
        "if abs(1.0 - ratios[j]) > RATIO_OF_SQUARE:",
    ): AWAY,
    (
        "share_of_bin",
        "total += max(1.0 - abs(within(place, extent) - real(h)), 0.0)",
        "total += max(1.0 - abs(real(h) - within(place, extent)), 0.0)",
    ): AWAY,
    (
        "nearest_pixel",
        "return int(v + 0.5) if v >= 0.0 else -int(0.5 - v)",
        "return int(v + 0.5) if v > 0.0 else -int(0.5 - v)",
    ): MEET,
    (
        "bin_start",
        "return min(max(first + p * max(last - first + 1, 1) // count, 0), extent)",
        "return max(first + p * max(last - first + 1, 1) // count, 0)",
    ): "bins end within the axis: one that starts behind it is empty, wherever it starts",
    (
        "gru_step_dbias",
        "total += candidate_delta[n, k] if b < 3 * K else recalled_delta[n, k]",
        "total += candidate_delta[n - 1, k] if b < 3 * K else recalled_delta[n, k]",
    ): ROTATED,
    (
        "auc_outside",
        "return 1.0 if place[n] < 0 else 0.0",
        "return 1.0 if place[n - 1] < 0 else 0.0",
    ): ROTATED,
    (
        "auc_counts",
        "positive += share",
        "positive -= share",
    ): "the area is a ratio, in which the sign cancels",
    (
        "embedding_y",
        "if padding_id is not None and ids[n, b] == padding_id:",
        "if ids[n, b] == padding_id:",
    ): FOLDED,
    (
        "ctc_cost",
        "if rows == 0 or (total[s] == -math.inf and needed[s] > rows):",
        "if rows <= 0 or (total[s] == -math.inf and needed[s] > rows):",
    ): "a sequence never has fewer rows than none",
    (
        "ctc_following",
        "for v in range(u + 1, min(2 * count[s] + 1, U)):",
        "for v in range(u + 1, min(2 * count[s] + 2, U)):",
    ): "alpha is -inf in the state behind the last one, which adds nothing",
    (
        "row_sum_total",
        "total += x[n, c]",
        "total += x[n, c - 1]",
    ): ROTATED,
    (
        "split_dx",
        "total += dy[j][i]",
        "total += dy[j - 1][i]",
    ): ROTATED,
    (
        "lambda_cost_discount",
        "if max_sort_size is not None and place[t] >= max_sort_size:",
        "if place[t] >= max_sort_size:",
    ): FOLDED,
    (
        "excess",
        "if log_probability > -0.5:",
        "if log_probability >= -0.5:",
    ): "two forms of one formula; either will do in between",
    (
        "relu_y",
        "return x[i] if x[i] > 0.0 else times(negative_slope, x[i])",
        "return x[i] if x[i] >= 0.0 else times(negative_slope, x[i])",
    ): "both give 0 for 0",
    (
        "prelu_y",
        "return x[n, c, i] if x[n, c, i] > 0.0 else times(slope[k], x[n, c, i])",
        "return x[n, c, i] if x[n, c, i] >= 0.0 else times(slope[k], x[n, c, i])",
    ): "both give 0 for 0",
    (
        "recurrent_dbias",
        "total += delta[t, k]",
        "total += delta[t - 1, k]",
    ): ROTATED,
    (
        "regression_error_targets",
        "return (real(total), real(total - double(real(total))), real(square), real(square - double(real(square))))",
        "return (real(total), real(total - double(real(total))), real(square - double(real(square))), real(square))",
    ): "both parts are added up again",
    (
        "class_weight_y",
        "for k in range(len(weights)):",
        "for k in range(len(weights) + 1):",
    ): "no label is the number of classes",
    (
        "regression_error_errors",
        "error = x[n, c] - target[n, c]",
        "error = target[n, c] - x[n, c]",
    ): "neither the absolute error nor its square has a sign",
    (
        "precision_recall_share",
        "if ignore_label is not None and label[n, i] == ignore_label:",
        "if label[n, i] == ignore_label:",
    ): FOLDED,
    (
        "relu6_y",
        "if x[i] <= 0.0:",
        "if x[i] < 0.0:",
    ): MEET,
    (
        "relu6_y",
        "return max if x[i] >= max else x[i]",
        "return max if x[i] > max else x[i]",
    ): MEET,
    (
        "clip_y",
        "if min is not None and x[i] < min:",
        "if min is not None and x[i] <= min:",
    ): MEET,
    (
        "clip_y",
        "if min is not None and x[i] < min:",
        "if x[i] < min:",
    ): FOLDED,
    (
        "clip_dx",
        "if min is not None and x[i] < min:",
        "if x[i] < min:",
    ): FOLDED,
    (
        "clip_y",
        "if max is not None and x[i] > max:",
        "if max is not None and x[i] >= max:",
    ): MEET,
    (
        "clip_y",
        "if max is not None and x[i] > max:",
        "if x[i] > max:",
    ): FOLDED,
    (
        "clip_dx",
        "if max is not None and x[i] > max:",
        "if x[i] > max:",
    ): FOLDED,
    (
        "hard_sigmoid_y",
        "if line <= 0.0:",
        "if line < 0.0:",
    ): MEET,
    (
        "hard_sigmoid_y",
        "return 1.0 if line >= 1.0 else line",
        "return 1.0 if line > 1.0 else line",
    ): MEET,
    (
        "hard_swish_y",
        "if x[i] <= -3.0:",
        "if x[i] < -3.0:",
    ): MEET,
    (
        "hard_swish_y",
        "return x[i] if x[i] >= 3.0 else x[i] * (x[i] + 3.0) / 6.0",
        "return x[i] if x[i] > 3.0 else x[i] * (x[i] + 3.0) / 6.0",
    ): MEET,
    (
        "selu_y",
        "return SELU_SCALE * x[i] if x[i] > 0.0 else SELU_LIMIT * math.expm1(x[i])",
        "return SELU_SCALE * x[i] if x[i] >= 0.0 else SELU_LIMIT * math.expm1(x[i])",
    ): MEET,
    (
        "sigmoid",
        "return (1.0 if v >= 0.0 else e) / (1.0 + e)",
        "return (1.0 if v > 0.0 else e) / (1.0 + e)",
    ): MEET,
    (
        "first_reached",
        "return max(int(real(h - 1) * (real(count - 1) / real(max(extent - 1, 1)))) - 2, 0)",
        "return max(int(real(1 - h) * (real(count - 1) / real(max(extent - 1, 1)))) - 2, 0)",
    ): WIDER,
    (
        "first_reached",
        "return max(int((real(h) - 0.5) * (real(count) / real(extent)) - 0.5) - 2, 0)",
        "return max(int((real(h) - 0.5) * (real(count) / real(extent)) - 0.5) - 3, 0)",
    ): WIDER,
    (
        "last_reached",
        "return min(int(real(h + 1) * (real(count - 1) / real(max(extent - 1, 1)))) + 3, count)",
        "return min(int(real(h + 1) * (real(count - 1) / real(max(extent - 1, 1)))) + 4, count)",
    ): WIDER,
    (
        "stochastic_pool_dx",
        "for q in range(first_window(w, pool_size, stride, 0), min(Q, w // stride + 1)):",
        "for q in range(first_window(w, pool_size, stride, 0), min(Q, w * stride + 1)):",
    ): WIDER,
    (
        "pool3d_where",
        "where, largest = (-1, 0.0)",
        "where, largest = (-1, 1.0)",
    ): "the first value is taken in any case",
    (
        "infogain_loss_mass",
        "return 0.0",
        "return 1.0",
    ): "nothing reads the mass of an ignored label",
    (
        "conv_shift_dx",
        "total += dy[n, (c - k + C * K + K // 2) % C] * weights[n, k]",
        "total += dy[n, (c - k - C * K + K // 2) % C] * weights[n, k]",
    ): "a remainder is not negative in Python",
    (
        "batch_norm_y",
        "if training and (r_max is not None or d_max is not None):",
        "if training:",
    ): NO_LIMITS,
    (
        "batch_norm_dgain",
        "return b[c] * r[c] + a[c] * d[c] if training and (r_max is not None or d_max is not None) else b[c]",
        "return b[c] * r[c] + a[c] * d[c] if training or (r_max is not None or d_max is not None) else b[c]",
    ): NO_LIMITS,
    (
        "batch_norm_dgain",
        "return b[c] * r[c] + a[c] * d[c] if training and (r_max is not None or d_max is not None) else b[c]",
        "return b[c] * r[c] + a[c] * d[c] if r_max is not None or d_max is not None else b[c]",
    ): "there is no backward pass in the test phase",
}
