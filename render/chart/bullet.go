package chart

import (
	"math"

	"github.com/ttreport/ttreport/render"
)

// Bullet is a value among the levels of its targets as a picture of 160 by 18, on a logarithmic scale; right is better.
type Bullet struct {
	X     float64 // of what was measured; negative for none
	Ticks []BulletTick
	Label string
}

// BulletTick is a level.
type BulletTick struct {
	X        float64
	Required bool
}

// NewBullet places a value and its levels between the lowest and the highest of them; one alone stands in the middle.
func NewBullet(in *render.Bullet) Bullet {
	lo, hi := math.Inf(1), math.Inf(-1)
	see := func(v float64) {
		if v > 0 {
			lo, hi = math.Min(lo, v), math.Max(hi, v)
		}
	}
	see(in.Measured)
	for _, t := range in.Ticks {
		see(t.Value)
	}
	const least = 1.2 // a span below it would make a miss of one percent look large
	if hi < lo*least {
		middle := math.Sqrt(lo * hi)
		lo, hi = middle/math.Sqrt(least), middle*math.Sqrt(least)
	}
	x := func(v float64) float64 {
		return round(stripPad + math.Log(v/lo)/math.Log(hi/lo)*(stripW-2*stripPad))
	}
	out := Bullet{X: -1, Label: in.Label}
	if in.Measured > 0 {
		out.X = x(in.Measured)
	}
	for _, t := range in.Ticks {
		out.Ticks = append(out.Ticks, BulletTick{x(t.Value), t.Required})
	}
	return out
}
