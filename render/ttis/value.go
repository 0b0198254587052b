package ttis

import (
	"math"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// notMeasured is the word of a benchmark's cell without a number; notAvailable is that of all other tables.
const (
	notMeasured  = "n/a"
	notAvailable = "N/A"
)

// rounded is a number to a count of decimal places, as v0.17 stores and prints it: 4.52 and not 4.520, 21.0 and not 21.
func rounded(n schema.Number, places int) schema.Number {
	v, ok := n.Get()
	if !ok {
		return n
	}
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'f', places, 64), 64)
	return schema.Num(v)
}

// plain writes a number with all its digits, and a point.
func plain(n schema.Number, missing string) string {
	v, ok := n.Get()
	if !ok {
		return missing
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// whole writes a count.
func whole(n schema.Number, missing string) string {
	v, ok := n.Get()
	if !ok {
		return missing
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// fixed writes a number to a count of decimal places.
func fixed(n schema.Number, places int, missing string) string {
	v, ok := n.Get()
	if !ok {
		return missing
	}
	return strconv.FormatFloat(v, 'f', places, 64)
}

// significant writes four significant digits, or all before the point: 60000 and not 6e+04.
func significant(n schema.Number) string {
	v, ok := n.Get()
	if !ok {
		return notAvailable
	}
	if math.Abs(v) >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// value is a number for JSON: null when there is none.
func value(n schema.Number) any {
	if v, ok := n.Get(); ok {
		return v
	}
	return nil
}

// text is a text for JSON: null when there is none.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// parsed is a number that is written as a text.
func parsed(s string) schema.Number {
	if v, err := strconv.ParseFloat(s, 64); err == nil {
		return schema.Num(v)
	}
	return schema.Missing("not stated")
}

func number(p *float64) schema.Number {
	if p == nil {
		return schema.Missing("not stated")
	}
	return schema.Num(*p)
}

// of applies a formula to numbers that are all there.
func of(formula func(...float64) float64, list ...schema.Number) schema.Number {
	values := make([]float64, len(list))
	for i, n := range list {
		v, ok := n.Get()
		if !ok {
			return n
		}
		values[i] = v
	}
	return schema.Num(formula(values...))
}
