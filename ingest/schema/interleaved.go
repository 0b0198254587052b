package schema

// Interleaved states that a run was measured in turns with another one, on the same device: blocks of the same points,
// one of each run. The zero value is a run by itself.
type Interleaved struct {
	With     string // id of the other run
	Baseline bool   // this run's server is what the other one's is compared with
	Kept     bool   // both servers kept running, where they otherwise start again for each block
}

// IsZero reports a run by itself.
func (i Interleaved) IsZero() bool { return i.With == "" }
