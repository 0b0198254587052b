package draft

import (
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// Fields sets metrics that are one number each from members of an object: {"rps": "request_throughput"}.
func (d *Draft) Fields(v decode.Value, members map[string]string) {
	for metric, name := range members {
		d.Of(metric, v.Get(name))
	}
}

// Mean sets the mean of a metric without a definition from a value of the file, if it is a number.
func (d *Draft) Mean(metric string, v decode.Value) {
	if x, ok := v.Float(); ok {
		d.Stat(metric, "", "mean", x)
	}
}

// MeanTokens sets the mean lengths from the totals that vLLM's client and its descendants write.
func (d *Draft) MeanTokens(v decode.Value, completed *float64) {
	if completed == nil || *completed <= 0 {
		return
	}
	for metric, name := range map[string]string{"isl": "total_input_tokens", "osl": "total_output_tokens"} {
		if total, ok := v.Get(name).Float(); ok {
			d.Stat(metric, "", "mean", total / *completed)
		}
	}
}

// First returns the first of several members of an object that is a number; nil when none is.
func First(v decode.Value, names ...string) *float64 {
	for _, name := range names {
		if x := v.Get(name).Ptr(); x != nil {
			return x
		}
	}
	return nil
}

// ClientTime reads the date of vLLM's client and its descendants: the end of the run, in local time without a zone.
// note states that, for [schema.Facts.StartNote].
func ClientTime(date decode.Value) (end time.Time, note string, ok bool) {
	end, err := time.Parse("20060102-150405", date.Str())
	if err == nil {
		return end, "local time of the client, zone not stated", true
	}
	end, err = time.Parse(time.RFC3339, date.Str()) // of a tool that writes the same fields
	return end.UTC(), "", err == nil
}

// Runs collects what one file states about several runs, in order of occurrence. K identifies a run.
type Runs[K comparable] struct {
	byKey map[K]*schema.Reading
	order []*schema.Reading
}

// Of returns the reading of a run; begin makes it if it is new.
func (r *Runs[K]) Of(key K, begin func() schema.Reading) *schema.Reading {
	if r.byKey == nil {
		r.byKey = map[K]*schema.Reading{}
	}
	reading := r.byKey[key]
	if reading == nil {
		made := begin()
		reading = &made
		r.byKey[key] = reading
		r.order = append(r.order, reading)
	}
	return reading
}

// Len returns the number of runs.
func (r *Runs[K]) Len() int { return len(r.order) }

// Join returns the first reading with the others in More, or an empty reading of a format if there are none.
func (r *Runs[K]) Join(format, detail string) schema.Reading {
	if len(r.order) == 0 {
		return schema.Reading{Format: format, Detail: detail}
	}
	out := *r.order[0]
	out.Format, out.Detail = format, detail
	for _, more := range r.order[1:] {
		out.More = append(out.More, *more)
	}
	return out
}
