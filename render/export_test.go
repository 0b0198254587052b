package render

import (
	"math"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// planePoint is a point of a plane: concurrency, output, speed of a user and TTFT.
func planePoint(c, output, speed, ttft float64) PlanePoint {
	return PlanePoint{Load: whole(c), At: c, Values: [planeValues]maybe{&output, &speed, &ttft, nil}, isl: &c, osl: &c}
}

// BlockSamples has one block of each kind; [TestBlockSamples] fails when one is missing.
func BlockSamples() []Block {
	table := &Table{Caption: "A table", Layout: List, Total: 7, More: "the release page has all", Cols: []Col{
		{Head: "Where"}, {Head: "Change", Unit: "%", Num: true, Sort: true, Length: Short}, {Head: "Why"},
		{Head: "History"},
	}}
	table.row(Cell{Text: "m|1 on d1", Sub: "128/64/8", Head: true, Href: "models/m-1/d1/index.html", Tag: "simulated"},
		Cell{Text: "+12.0", Strong: true}, Cell{Outcome: schema.Regressed, Evidence: schema.Confirmed},
		Cell{Spark: &Spark{"TTFT over 3 releases: 100 to 110 ms", []float64{100, math.NaN(), 110}}})
	table.row(Cell{Text: "id_1", Code: true, Head: true}, Cell{Text: "–", Missing: "not stated"},
		Cell{Text: "A sentence.", Sentence: true, Decisive: true,
			Marks: []Mark{{schema.Improved, schema.NoEvidence, 2, "improved"}}},
		Cell{Strip: &Strip{"TTFT from 1 to 33 ms", quantilesOf(33), 1, 33}})
	table.row(Cell{Text: "pictures", Head: true},
		Cell{Bullet: &Bullet{"80 among 40, 100", 80, []BulletTick{{40, true}, {100, false}}}},
		Cell{Text: "+1 % to +3 %", Whisker: &Interval{"+1 % to +3 %", 2, 1, 3, schema.Regressed, schema.Confirmed}},
		Cell{Sub: "2 to 3", Span: &RankSpan{"rank 2 to 3 of 8", 2, 3, 8}})
	plane := &Plane{ID: "plane-1", Model: "m", Lines: []PlaneLine{
		{Name: "n150", planeID: planeID{Device: "n150", Workload: "128/64", Chips: 1}, Href: "models/m/n150/index.html",
			Points: []PlanePoint{planePoint(1, 20, 50, 10), planePoint(8, 120, 15, 30)}},
		{Name: "t3k", planeID: planeID{Device: "t3k", Workload: "128/64"}, Median: true, Href: "models/m/t3k/index.html",
			Points: []PlanePoint{planePoint(1, 40, 60, 5)}},
	}, left: map[string]int{"without a latency": 2}}
	plane.arrange()
	plane.limits()
	plane.scaling()
	return []Block{
		table, plane, Prose{"One.", "Two."}, Commands{"ttreport check"}, Links{{"v3", "releases/v3/index.html"}},
		Notes{{"v3", "v3", "# Known\n\nThe *driver* changed."}}, Topic("exit-codes"),
		Empty{"Nothing here", "Nothing was measured.", ""},
		Decisions{{"v1", "PASS", words.ToneGood, "releases/v1/index.html"}},
		ChangeCard{ID: "change-1", Title: "m on d: 9 % slower since v2", Outcome: schema.Regressed, Course: Course{
			Course:   judge.Course{Middle: []float64{0, .09}, Low: []float64{-.01, .08}, High: []float64{.01, .1}},
			Releases: []string{"v1", "v2"}, At: 1, Size: .09, Limit: .05, Label: "Median",
		}, Facts: []CardFact{{"Size", "9 % slower", ""}}, Ways: []Way{{acceptIt, "ttreport accept v2", "all of it"}}},
		Card{
			[]string{"0123456789ab"},
			[]CardFact{{"Basis", "2 of 3 unchanged", "releases/v3/index.html"}},
			[]Way{{"Measure again", "ttreport collect", "1 workload, about 12 min"}},
		},
		Widget{Tool: "compare", Releases: []ReleaseRef{{Name: "v3", Shard: "data/shards/releases/v3.js"}}, A: "v1", B: "v3"},
	}
}
