package schema

import "strings"

// OwnMetric returns the name under which a metric of the user's own is stored: "my_ms{ms,lower}". Unit and direction
// are part of the name, so that a metric whose unit changes is another series, and readers of history need no list of
// metrics. ok is false for an invalid name, unit or direction.
func OwnMetric(label, unit, better string) (name string, ok bool) {
	name = label + "{" + unit + "," + better + "}"
	_, ok = ownMetric(name)
	return name, ok
}

// IsOwn reports whether a metric is one of the user's own.
func IsOwn(name string) bool {
	_, ok := ownMetric(name)
	return ok
}

func ownMetric(name string) (MetricInfo, bool) {
	label, rest, ok := strings.Cut(name, "{")
	facts, closed := strings.CutSuffix(rest, "}")
	at := strings.LastIndexByte(facts, ',')
	if !ok || !closed || at < 0 || !plainName(label, 64, "_.-") || label == "" || !plainName(facts[:at], 16, "_.-/% ") {
		return MetricInfo{}, false
	}
	m := MetricInfo{Name: name, Label: label, Unit: facts[:at], Means: "a metric of an exec tool"}
	switch facts[at+1:] {
	case "lower":
		m.Better = Lower
	case "higher":
		m.Better = Higher
	case "neither": // an observation: it is shown, not judged
	default:
		return MetricInfo{}, false
	}
	return m, true
}

// MayBeZero reports metrics of the user's own whose 0 is a measurement: counts and shares of what ought not to happen,
// such as failures. A latency or a rate of 0 is none: see [Measurable].
func MayBeZero(metric string) bool {
	m, ok := ownMetric(metric)
	if !ok || m.Better != Lower {
		return false
	}
	switch strings.ToLower(m.Unit) {
	case "", "%", "count", "counts", "req", "reqs", "request", "requests", "error", "errors", "failure", "failures":
		return true
	}
	return false
}

// plainName reports whether a text is short and has only letters, digits and certain signs.
func plainName(s string, most int, signs string) bool {
	for _, c := range s {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(signs, c)) {
			return false
		}
	}
	return len(s) <= most
}
