package aiperf

import (
	"math"
	"strconv"

	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// record is one line of the per-request records. It is scanned without building its tree, since there may be
// hundreds of thousands, and used again for the next.
type record struct {
	latency.Request
	isOne   bool // it has what every record has
	warmup  bool
	start   float64 // ns since 1970, 0 when not stated
	failure string
	gaps    []float64

	named, measured bool    // it has an id or a phase; it has metrics
	stamped         float64 // another time, for records without that of sending
}

// scan reads a line.
func (l *record) scan(s *decode.Scanner) {
	*l = record{gaps: l.gaps[:0]}
	l.TTFT, l.OK = math.NaN(), true // absent without streaming
	if s.Peek() != decode.Object {
		s.Skip()
		return
	}
	s.Object(func(key []byte) {
		switch string(key) {
		case "metadata":
			eachMember(s, func(key []byte) { l.metadata(s, string(key)) })
		case "metrics":
			l.measured = s.Peek() == decode.Object
			eachMember(s, func(key []byte) { l.metric(s, string(key)) })
		case "error":
			l.OK = l.OK && s.Peek() == decode.Null
			eachMember(s, func(key []byte) {
				if string(key) == "message" {
					l.failure = text(s)
				} else {
					s.Skip()
				}
			})
		default:
			s.Skip()
		}
	})
	if l.start == 0 {
		l.start = l.stamped
	}
	l.isOne, l.ITL = l.named && l.measured, l.gaps
	l.OK = l.OK && l.E2EL > 0
}

// metadata reads what is stated of a request.
func (l *record) metadata(s *decode.Scanner, name string) {
	switch name {
	case "x_request_id":
		l.named = l.named || s.Peek() != decode.Null
		s.Skip()
	case "benchmark_phase", "credit_phase":
		l.named = l.named || s.Peek() != decode.Null
		l.warmup = l.warmup || text(s) == "warmup"
	case "request_start_ns":
		l.start = number(s)
	case "timestamp_ns":
		l.stamped = number(s)
	default:
		s.Skip()
	}
}

// metric reads {"value": …, "unit": …} of a metric that is used.
func (l *record) metric(s *decode.Scanner, name string) {
	switch name {
	case "request_latency", "input_sequence_length", "output_sequence_length", "ttft", "time_to_first_token",
		"inter_chunk_latency":
	default:
		s.Skip()
		return
	}
	eachMember(s, func(key []byte) {
		if string(key) != "value" {
			s.Skip()
			return
		}
		switch name {
		case "request_latency":
			l.E2EL = number(s)
		case "input_sequence_length":
			l.In = count(number(s))
		case "output_sequence_length":
			l.Out = count(number(s))
		case "inter_chunk_latency":
			l.gaps = floats(s, l.gaps[:0])
		default:
			if kind := s.Peek(); kind == decode.Number || kind == decode.String {
				l.TTFT = number(s)
			} else {
				s.Skip()
			}
		}
	})
}

// eachMember visits the members of an object, and skips any other value.
func eachMember(s *decode.Scanner, visit func(key []byte)) {
	if s.Peek() == decode.Object {
		s.Object(visit)
	} else {
		s.Skip()
	}
}

// number reads a finite number, also one that is written as a string; 0 for anything else.
func number(s *decode.Scanner) float64 {
	x := 0.
	switch s.Peek() {
	case decode.Number:
		x = s.Float()
	case decode.String:
		x, _ = strconv.ParseFloat(string(s.Text()), 64)
	default:
		s.Skip()
	}
	if x-x != 0 {
		return 0
	}
	return x
}

// text reads a string; "" for anything else.
func text(s *decode.Scanner) string {
	if s.Peek() == decode.String {
		return string(s.Text())
	}
	s.Skip()
	return ""
}

// floats reads an array of numbers; nothing of one that holds anything else.
func floats(s *decode.Scanner, out []float64) []float64 {
	if s.Peek() != decode.Array {
		s.Skip()
		return out
	}
	whole := true
	s.Array(func() {
		if s.Peek() != decode.Number {
			s.Skip()
			whole = false
			return
		}
		out = append(out, s.Float())
	})
	if !whole {
		return out[:0]
	}
	return out
}
