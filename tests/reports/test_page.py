"""What the page says in words."""

from forensegm.reports.page import Footnotes, cards, counts_table, environment_rows, limits, skipped_items, summary


def rows(table):
    return [[cell.text for cell in row] for row in table.rows]


def test_cards_place_value_interval_and_baseline(metrics):
    iou, auc, identity, flagged = cards(metrics)

    assert (iou.at, iou.start, iou.length, iou.baseline_at) == (45.67, 31.0, 24.0, 6.0)
    assert iou.verdict == "the whole interval lies above it"
    assert auc.verdict == "the interval reaches down to it"  # the baselines of the fixture have the same AUC
    assert identity.at is None
    assert flagged.verdict == ""


def test_summary_says_what_was_judged_and_how(metrics):
    text = " ".join(summary({**metrics, "chain": "jpeg(70)"}))

    assert "Judged on 10 images of 4 photographs (7 edited, 3 authentic)." in text
    assert "went through jpeg(70) first" in text
    assert "from a probability of 0.430" in text
    assert "score of 0.600 (pooling: topk_mean)" in text
    assert "validation (n=20)" in text
    assert summary({}) == []


def test_limits_warn_of_few_photographs(metrics):
    assert any("Here there are 4" in sentence for sentence in limits(metrics))
    assert not any("Here there are" in sentence for sentence in limits({"data": {"groups": 400}}))


def test_counts_of_the_judged_images_alone(metrics):
    table = counts_table(metrics)

    assert table.columns == ["count", "judged here"]
    assert ["images", "10"] in rows(table)
    assert table.sections[1].heading == "images by editor"
    assert counts_table({}) is None


def test_counts_beside_those_of_the_whole_data_set(metrics):
    table = counts_table({"evaluated": metrics["data"], "data": {"images": 40, "scenes": 9, "splits": {"test": 10}}})

    assert table.columns == ["count", "judged here", "whole data set"]
    assert ["images", "10", "40"] in rows(table)
    assert ["photographs, one per scene", "4", "9"] in rows(table)
    assert ["test", "", "10"] in rows(table)


def test_footnotes_are_numbered_once():
    notes = Footnotes()

    assert [notes.number("a"), notes.number("b"), notes.number("a")] == [1, 2, 1]
    assert notes.reasons == ["a", "b"]


def test_environment_is_flat():
    assert environment_rows({"torch": "2.9", "gpu": {"count": 0}, "seeds": [0, 1], "wandb": None}) == [
        ("torch", "2.9"),
        ("gpu.count", "0"),
        ("seeds", "0, 1"),
        ("wandb", "n/a"),
    ]


def test_skipped_items_are_counted_beyond_twenty():
    items, more = skipped_items({"skipped": [{"id": str(number), "reason": "broken"} for number in range(23)]})

    assert len(items) == 20
    assert more == 3
    assert skipped_items({}) == ([], 0)
