package vllm

import (
	"fmt"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// counts reads how many requests completed and failed, and the mean lengths, and decides the point's status.
func counts(f *decode.File, v decode.Value, p *schema.Point, r *schema.Reading) {
	ok, _ := v.Get("completed").Float()
	setValue(p, "requests_ok", "req", "", ok, "")
	asked, haveAsked := v.Get("num_prompts").Float()
	failed, haveFailed := v.Get("failed").Float()
	from := ""
	if !haveFailed && haveAsked && asked >= ok && !v.Has("ramp_up_strategy") {
		failed, haveFailed, from = asked-ok, true, "derived"
	}
	if haveFailed {
		setValue(p, "requests_failed", "req", "", failed, from)
		if failed > 0 {
			setValue(p, "error_rate", "%", "", 100*failed/(ok+failed), "derived")
		}
	}
	if ok > 0 {
		for _, t := range [][3]string{{"isl", "total_input_tokens", "total_input"}, {"osl", "total_output_tokens", "total_output"}} {
			total, have := v.Get(t[1]).Float()
			if !have {
				total, have = v.Get(t[2]).Float()
			}
			if have {
				m := schema.Metric{Unit: "tok"}
				m.Stats.Set("mean", total/ok)
				p.Metrics[t[0]] = m
			}
		}
	}
	if out, have := v.Get("total_output_tokens").Float(); have && out == 0 && ok > 0 && !v.Has("ttfts") {
		p.Status = schema.StatusFailed
		noData(p, "no request produced a token")
		q := f.Problem(schema.SevError, "hollow-success", v.Get("total_output_tokens"))
		q.Found, q.Expected = fmt.Sprintf("%.0f requests that count as completed and produced no token", ok), "completed requests to have output"
		q.Used, q.Hint = "no number", "the server refused or dropped the requests; look at its log"
		r.Problems = append(r.Problems, q)
		return
	}
	switch {
	case ok == 0:
		p.Status = schema.StatusFailed
		noData(p, "no request completed")
		q := f.Problem(schema.SevError, "all-failed", v.Get("completed"))
		q.Found, q.Expected = "no request completed", "at least one"
		q.Used = "no number: the zeros in the file are not measurements"
		q.Hint = "look at the client's and the server's log of this point"
		r.Problems = append(r.Problems, q)
	case haveFailed && failed > 0:
		p.Status = schema.StatusPartial
		q := f.Problem(schema.SevWarning, "partly-failed", v.Get("failed"))
		q.Found = fmt.Sprintf("%.0f of %.0f requests failed", failed, ok+failed)
		q.Expected, q.Used = "none", "the statistics of those that completed"
		q.Hint = "compare this point with care: the requests that fail are often the slow ones"
		r.Problems = append(r.Problems, q)
	}
}

func setValue(p *schema.Point, name, unit, def string, v float64, from string) {
	m := schema.Metric{Unit: unit, Def: def, From: from}
	m.Stats.Set("value", v)
	p.Metrics[name] = m
}

// noData turns every latency and rate of a point into a missing number with a reason.
func noData(p *schema.Point, why string) {
	for _, name := range []string{"ttft", "tpot", "ntpot", "itl", "e2el", "output_tps", "total_tps", "rps", "goodput_rps"} {
		if m, ok := p.Metrics[name]; ok {
			p.Metrics[name] = schema.Metric{Unit: m.Unit, Def: m.Def, Why: why}
		}
	}
}

// finish removes zeros that mean "not measured" and derives the speed one user sees.
func finish(v decode.Value, p *schema.Point) {
	if p.Status == schema.StatusFailed {
		return
	}
	for _, name := range []string{"ttft", "tpot", "ntpot", "itl", "e2el"} {
		m, ok := p.Metrics[name]
		if !ok || len(m.Stats) == 0 {
			continue
		}
		if allZero(m.Stats) {
			p.Metrics[name] = schema.Metric{Unit: m.Unit, Def: m.Def, Why: "the file says 0: not measured (one output token, or no streaming)"}
			continue
		}
		if m.From == "" && m.N == 0 && (name == "ttft" || name == "e2el") {
			if n, ok := v.Get("completed").Int(); ok {
				m.N = n
				if std, ok := m.Stats.Get("std"); ok && n > 1 {
					m.SE = schema.Num(stdErr(std, n))
				}
				p.Metrics[name] = m
			}
		}
	}
	if mean, ok := p.Metrics["tpot"].Stats.Get("mean"); ok && mean > 0 {
		setValue(p, "tps_user", "tok/s", schema.DefRecipMeanTPOT, 1000/mean, "")
	}
}

func allZero(s schema.Stats) bool {
	for _, x := range s {
		if x.Value != 0 {
			return false
		}
	}
	return true
}
