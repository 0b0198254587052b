package regression

// Hosts are the machines that measured a system in a release, by a number of the caller's; 0 is unknown.
type Hosts struct {
	First int32 // of its first run
	Later int32 // of a later run: another one than the first, if there is one
}

// Measured is a system in a release.
type Measured struct{ Release, System int32 }

// recentHosts is the number of releases in which a system must have been measured on another host for that to be a
// condition: a machine that is long gone settles nothing.
const recentHosts = 10

// oneHost reports whether all runs that show a change together were made on one host, while the system was lately
// measured on another one too: what they show may be the host. An unknown host is no reason to doubt.
func (j *judge) oneHost(x *test) bool {
	if len(j.t.Hosts) == 0 {
		return false
	}
	system, seen := j.t.Cells[x.cell].System, sameHost{}
	for i := x.joint.first; i <= x.obs; i++ {
		if o := &j.t.Obs[i]; i == x.obs || j.joins(i) {
			seen.add(j.t.Hosts[Measured{o.Release, system}], o.K2 > 0)
		}
	}
	return seen.one() && j.elsewhere(system, j.t.Obs[x.obs].Release, seen.host)
}

// shiftOnOneHost is [judge.oneHost] of a shift that some releases show.
func (j *judge) shiftOnOneHost(m moved, releases []int32, again bool) bool {
	if len(j.t.Hosts) == 0 {
		return false
	}
	systems, seen := []int32{m.system}, sameHost{}
	if m.system < 0 {
		systems = j.systemsOf(m.stratum)
	}
	for _, r := range releases {
		for _, s := range systems {
			if h, measured := j.t.Hosts[Measured{r, s}]; measured {
				seen.add(h, again)
			}
		}
	}
	if !seen.one() {
		return false
	}
	for _, s := range systems {
		if j.elsewhere(s, releases[len(releases)-1], seen.host) {
			return true
		}
	}
	return false
}

// elsewhere reports whether a system was lately measured on another host.
func (j *judge) elsewhere(system, release, host int32) bool {
	for r := max(0, release-recentHosts); r <= release; r++ {
		h := j.t.Hosts[Measured{r, system}]
		if h.First != 0 && h.First != host || h.Later != 0 && h.Later != host {
			return true
		}
	}
	return false
}

// systemsOf lists the systems of a stratum.
func (j *judge) systemsOf(stratum int32) []int32 {
	known := map[int32]bool{}
	var out []int32
	for i := range j.t.Cells {
		if c := &j.t.Cells[i]; c.Stratum == stratum && !known[c.System] {
			known[c.System] = true
			out = append(out, c.System)
		}
	}
	return out
}

// sameHost tells whether runs were made on one host that is known.
type sameHost struct {
	host    int32
	several bool // or unknown
}

func (s *sameHost) add(h Hosts, later bool) {
	s.see(h.First)
	if later {
		s.see(h.Later)
	}
}

func (s *sameHost) see(host int32) {
	if host == 0 || s.host != 0 && s.host != host {
		s.several = true
	}
	s.host = host
}

func (s *sameHost) one() bool { return !s.several && s.host != 0 }
