package library

// place is what contradictions of several levels have in common.
type place struct{ model, device, key, metric, code string }

// Fold puts a contradiction that several levels of one workload have into one: the levels are shares of one value. The
// numbers are those of the last level, which asks for most; Target.Level names all.
func Fold(list []Contradiction) []Contradiction {
	at := map[place]int{}
	var out []Contradiction
	for _, c := range list {
		id := place{c.Model, c.Device, c.Target.Key.String(), c.Target.Metric, c.Code}
		i, seen := at[id]
		if !seen {
			at[id] = len(out)
			out = append(out, c)
			continue
		}
		levels := out[i].Target.Level + ", " + c.Target.Level
		out[i] = c
		out[i].Target.Level = levels
	}
	return out
}
