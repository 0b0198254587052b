package host

import (
	"slices"
	"testing"
)

func TestMemories(t *testing.T) {
	const mib = 1 << 20
	of := func(read func([]byte) ([]device, error), text string) []Memory {
		list, _ := read([]byte(text))
		return memoriesOf(list)
	}
	for name, c := range map[string]struct {
		got, want []Memory
	}{
		"nvidia": {of(nvidiaMemory, "0, 71203, 81559\n1, 3, 81559\n2, [N/A], 81559\n"),
			[]Memory{{"GPU 0", 71203 * mib, 81559 * mib}, {"GPU 1", 3 * mib, 81559 * mib}}},
		"rocm": {of(rocm, `{"card1": {"VRAM Total Memory (B)": "64", "VRAM Total Used Memory (B)": "10"},
			"card0": {"VRAM Total Memory (B)": "64", "VRAM Total Used Memory (B)": "60"}, "system": {}}`),
			[]Memory{{"card0", 60, 64}, {"card1", 10, 64}}},
		"linux": {memoriesOf(machine(fields("MemTotal:       100 kB\nMemFree: 1 kB\nMemAvailable:   40 kB\n"))),
			[]Memory{{"the machine", 60 * 1024, 100 * 1024}}},
		"nothing of nvidia": {of(nvidiaMemory, "No devices were found"), nil},
		"nothing of rocm":   {of(rocm, "no"), nil},
		"nothing of linux":  {memoriesOf(machine(fields("x"))), nil},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, expected %v", name, c.got, c.want)
		}
	}
}

// A second server needs what the first took, on the same accelerators.
func TestAnother(t *testing.T) {
	for _, c := range []struct {
		before, after float64
		want          string
	}{
		{1e9, 72e9, "it took 71.0 of 80.0 GB of GPU 0, and 8.0 GB are left"}, // vLLM's nine tenths
		{1e9, 30e9, ""},
		{79e9, 79.5e9, ""}, // noise
		{40e9, 20e9, ""},
	} {
		got := Another([]Memory{{"GPU 0", c.before, 80e9}}, []Memory{{"GPU 1", 80e9, 80e9}, {"GPU 0", c.after, 80e9}})
		if got != c.want {
			t.Errorf("%g to %g: %q", c.before, c.after, got)
		}
	}
}
