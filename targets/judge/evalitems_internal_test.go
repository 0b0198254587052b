package judge

import (
	"math"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
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
	if se, _ := spread(score(.47, .01, 110), .47); math.Abs(se-.01) > 2e-4 {
		t.Errorf("standard error %v, want .01", se)
	}
}
