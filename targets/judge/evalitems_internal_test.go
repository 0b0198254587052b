package judge

import (
	"math"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// An error that a file states is used where it is not that of right and wrong answers.
func TestItemsOfAStatedError(t *testing.T) {
	score := func(value, stderr float64, n int) *schema.Score {
		s := &schema.Score{Value: schema.Num(value), Stderr: schema.Missing("not stated"), N: n}
		if stderr > 0 {
			s.Stderr = schema.Num(stderr)
		}
		return s
	}
	binomial := math.Sqrt(.47 * .53 / 109)
	for name, c := range map[string]struct {
		score *schema.Score
		p     float64
		want  float64
	}{
		"none stated":              {score(.47, 0, 110), .47, 110},
		"right and wrong":          {score(.47, binomial, 110), .47, 110},
		"in per cent":              {score(47, 100*binomial, 110), .47, 110},
		"rounded":                  {score(.47, math.Round(binomial*1e4)/1e4, 110), .47, 110},
		"graded answers":           {score(.47, .01, 110), .47, .47 * .53 / 1e-4},
		"related questions":        {score(.47, 2*binomial, 110), .47, .47 * .53 / (4 * binomial * binomial)},
		"all right":                {score(1, 0, 20), 1, 20},
		"of one item says nothing": {score(.5, .1, 1), .5, 1},
	} {
		if got := itemsOf(c.score, c.p); math.Abs(got-c.want) > 1e-6*c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	// .47 with an error of .01 is .45 to .49, not .38 to .56
	if se := spread(score(.47, .01, 110), .47); math.Abs(se-.01) > 2e-4 {
		t.Errorf("standard error %v, want .01", se)
	}
}

// A score in percent beside one as a fraction: both are shares of 1 with their errors, in comparisons and in verdicts.
func TestScoresOfTwoScales(t *testing.T) {
	row := func(v, e float64) *columns.ScoreRow {
		return &columns.ScoreRow{Score: schema.Score{Task: "t", Metric: "acc", Value: schema.Num(v), Stderr: schema.Num(e)}}
	}
	for _, c := range []struct{ before, now *columns.ScoreRow }{
		{row(.80, .01), row(.81, .01)}, {row(.80, .01), row(81, 1)}, {row(80, 1), row(.81, .01)}, {row(80, 1), row(81, 1)},
	} {
		b, why := ScoreBeside(c.before, c.now)
		if why != "" || math.Abs(b.D-.01) > 1e-9 || math.Abs(b.Hi-b.Lo-.0554) > 1e-3 || !b.Share {
			t.Errorf("%v and %v: %+v, %q", c.before.Value, c.now.Value, b, why)
		}
		d, _, why := byError(&c.before.Score, &c.now.Score, true)
		if why != "" || d.D != b.D {
			t.Errorf("verdict of %v and %v: %+v, %q", c.before.Value, c.now.Value, d, why)
		}
	}
	for _, c := range []struct{ before, now *columns.ScoreRow }{
		{row(.9, .3), row(1.2, .3)}, {row(1.2, .3), row(.9, .3)}, {row(1.2, .3), row(1.5, .3)},
	} { // hard tasks, in percent
		b, why := ScoreBeside(c.before, c.now)
		if why != "" || math.Abs(math.Abs(b.D)-.003) > 1e-9 || math.Abs(b.Hi-b.Lo-.0166) > 1e-3 {
			t.Errorf("%v and %v: %+v, %q", c.before.Value, c.now.Value, b, why)
		}
	}
	bare := row(.9, .3)
	bare.Stderr = schema.Number{}
	if _, why := ScoreBeside(bare, row(1.2, .3)); why == "" {
		t.Error("a score that may be in percent was compared")
	}
	if _, why := ScoreBeside(row(.8, .01), &columns.ScoreRow{}); why == "" {
		t.Error("a score that is not there was compared")
	}
}
