package schema

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Interleaved states that a run was measured in turns with another one, on the same device: blocks of the same points,
// one of each run. The zero value is a run by itself.
type Interleaved struct {
	With     string // id of the other run
	Baseline bool   // this run's server is what the other one's is compared with
	Kept     bool   // both servers kept running, where they otherwise start again for each block
}

// IsZero reports a run by itself.
func (i Interleaved) IsZero() bool { return i.With == "" }

// TurnSide is what one run of a pair in turns states about when, where and of what it was measured. What is empty is
// unknown.
type TurnSide struct {
	Start, End     time.Time
	Host           string
	Mesh, Firmware string
	Chips          int
	Build          Build
}

// TurnSideOf is what the facts of a run state, but for its times. setting is that of its manifest.
func TurnSideOf(d Device, s Stack, setting map[string]string) TurnSide {
	started := setting["server"]
	if started == "" && s.Digest+s.Image != "" {
		started = strings.TrimSpace(cmp.Or(s.Digest, s.Image) + " " + setting["image_args"])
	}
	return TurnSide{
		Host: setting["host"], Mesh: d.Mesh, Firmware: d.Firmware, Chips: d.Chips,
		Build: Build{Engine: s.Engine, Version: s.Version, Digest: s.Digest, Commits: s.Commits, Started: started},
	}
}

// Build is what a run states of the software that it measured.
type Build struct {
	Engine, Version, Digest string
	Commits                 map[string]string // by component
	Started                 string            // the command line, the image with its arguments, or the address
}

// Mismatch is why a pair in turns decides nothing. A and B are what is stated twice: by the baseline and by the
// candidate, or by the runs of a release and by the run of the pair that names it.
type Mismatch struct {
	Kind    MismatchKind
	Fact    string // that differs, such as "host"
	A, B    string
	Release string // of [MismatchBuild]: whose build the pair did not measure
}

// MismatchKind is a kind of mismatch.
type MismatchKind string

// Kinds of mismatches.
const (
	MismatchPartner MismatchKind = "partner" // the other run is not there, or does not name this one
	MismatchTimes   MismatchKind = "times"   // one run ended before the other began: they took no turns
	MismatchPlace   MismatchKind = "place"   // they were measured on two machines
	MismatchLoad    MismatchKind = "load"    // they had other loads
	MismatchSame    MismatchKind = "same"    // both state the same build: there is nothing to compare
	MismatchBuild   MismatchKind = "build"   // the release that a run names states another build
)

// Mismatched returns why two runs were not measured in turns on one machine, or not of two builds; nil where nothing
// that they state says so.
func Mismatched(baseline, candidate TurnSide) *Mismatch {
	a, b := baseline, candidate
	if known := !a.Start.IsZero() && !b.Start.IsZero() && !a.End.IsZero() && !b.End.IsZero(); known &&
		(a.End.Before(b.Start) || b.End.Before(a.Start)) {
		return &Mismatch{Kind: MismatchTimes, A: span(a), B: span(b)}
	}
	for _, f := range []struct{ name, a, b string }{
		{"host", a.Host, b.Host}, {"mesh", a.Mesh, b.Mesh}, {"firmware", a.Firmware, b.Firmware},
		{"chips", count(a.Chips), count(b.Chips)},
	} {
		if f.a != "" && f.b != "" && f.a != f.b {
			return &Mismatch{Kind: MismatchPlace, Fact: f.name, A: f.a, B: f.b}
		}
	}
	fact, _, _ := a.Build.Differs(b.Build)
	if fact == "" && a.Build.Started != "" && a.Build.Started == b.Build.Started {
		return &Mismatch{Kind: MismatchSame, A: a.Build.Started, B: b.Build.Started}
	}
	return nil
}

func span(s TurnSide) string {
	return s.Start.UTC().Format(time.DateTime) + " to " + s.End.UTC().Format(time.DateTime)
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// Differs names the first fact that both builds state, differently; "" where nothing that they state differs. How a
// server was started is not among them: a build may be started at another port.
func (b Build) Differs(o Build) (fact, is, was string) {
	if b.Engine != "" && o.Engine != "" && !strings.EqualFold(b.Engine, o.Engine) {
		return "engine", b.Engine, o.Engine
	}
	if v, w := plainVersion(b.Version), plainVersion(o.Version); v != "" && w != "" && v != w {
		return "version", b.Version, o.Version
	}
	if b.Digest != "" && o.Digest != "" && b.Digest != o.Digest {
		return "digest", b.Digest, o.Digest
	}
	for _, name := range slices.Sorted(maps.Keys(b.Commits)) {
		v, w := b.Commits[name], o.Commits[name]
		if v != "" && w != "" && !strings.HasPrefix(v, w) && !strings.HasPrefix(w, v) {
			return "commit of " + name, v, w
		}
	}
	return "", "", ""
}

// OtherBuild returns how the run of a pair differs from every other run of the release that it names; nil where one of
// them has nothing that contradicts it, or where there is none.
func OtherBuild(pair Build, release string, others []Build) *Mismatch {
	var first *Mismatch
	for _, o := range others {
		fact, is, was := o.Differs(pair)
		if fact == "" {
			return nil
		}
		if first == nil {
			first = &Mismatch{Kind: MismatchBuild, Fact: fact, A: is, B: was, Release: release}
		}
	}
	return first
}

// plainVersion is a version without what one source writes and another leaves out: a v before it, the build behind it.
func plainVersion(v string) string {
	v, _, _ = strings.Cut(strings.TrimPrefix(v, "v"), "+")
	return v
}
