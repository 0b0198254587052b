package server

import (
	"context"
	"fmt"
	"time"

	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// SimEngine is the simulator's name as an engine.
const SimEngine = "ttreport-sim"

// Simulated is the simulator in this program.
type Simulated struct {
	Config sim.Config
	// Virtual makes it compute its answers on a clock of its own instead of sleeping. It then has no address, and only
	// this program's client can load it. Numbers depend only on the configuration and the load, not on other load of the
	// machine.
	Virtual bool
	Begin   time.Time // of the virtual clock; zero: now

	starts uint64 // before this one: each has noise of its own
	server *sim.Server
	clock  *sim.Virtual
}

// Start starts the simulator. One with an address is checked like any other server.
func (s *Simulated) Start(ctx context.Context, dir string) (Endpoint, error) {
	stack := manifest.Stack{Engine: SimEngine}
	config := s.Config
	config.Seed += s.starts << 20
	s.starts++
	if s.Virtual {
		s.clock = sim.NewVirtual(config, s.Begin)
		cfg := s.clock.Config()
		stack.Version = cfg.Version
		return Endpoint{Model: cfg.Model, Stack: stack, Context: cfg.KVTokens}, nil
	}
	srv, err := sim.Start(config)
	if err != nil {
		return Endpoint{}, err
	}
	s.server = srv
	end, err := (&Attached{URL: srv.URL(), Wait: 30 * time.Second}).Start(ctx, dir)
	stack.Version = end.Stack.Version
	end.Stack = stack
	return end, err
}

// Clock returns the simulator on its own clock; nil if it runs on the machine's clock.
func (s *Simulated) Clock() *sim.Virtual { return s.clock }

// Stop ends the simulator.
func (s *Simulated) Stop() {
	if s.server != nil {
		s.server.Stop()
		s.server = nil
	}
}

func errSimulatedDevice(device string) error {
	return fmt.Errorf("collect: the simulator measures no device, so it cannot be used for %q", device)
}

// DemoRelease is one simulated release of the demo: how it differs from the defaults of the simulator.
type DemoRelease struct {
	Name   string
	chunk  int     // prompt tokens that one step prefills
	decode float64 // factor on the time of a step
	right  float64 // share of eval questions answered right
}

// DemoReleases returns six small releases of one model: v0.4.0 decodes faster than earlier ones, and the newest,
// v0.6.0, prefills in smaller chunks, so that long prompts wait longer. The others differ only by noise.
func DemoReleases() []DemoRelease {
	return []DemoRelease{
		{"v0.1.0", 512, 1, .88}, {"v0.2.0", 512, 1, .88}, {"v0.3.0", 512, 1, .88},
		{"v0.4.0", 512, .86, .9}, {"v0.5.0", 512, .86, .9}, {"v0.6.0", 320, .86, .9},
	}
}

// Simulator returns the simulator's configuration of a release.
func (r DemoRelease) Simulator(seed uint64) sim.Config {
	c := sim.Defaults()
	c.Seed, c.Version, c.EvalAccuracy = seed, r.Name, r.right
	c.ChunkTokens = r.chunk
	c.StepBase = time.Duration(float64(c.StepBase) * r.decode)
	return c
}

// demoSimulator returns the simulator's configuration of a demo release by its name; ok is false for any other name.
func demoSimulator(release string, seed uint64) (c sim.Config, ok bool) {
	for _, r := range DemoReleases() {
		if r.Name == release {
			return r.Simulator(seed), true
		}
	}
	return sim.Config{}, false
}
