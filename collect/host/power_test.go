package host

import (
	"fmt"
	"math"
	"testing"
	"testing/fstest"
	"time"
)

// Shortened output of the programs, as users of them show it in public: tt-smi of two chips of a p300c, nvidia-smi of
// two boards, rocm-smi of a Radeon RX 7900 XTX (ROCm 6), of an integrated one, and of an Instinct MI250 with a
// secondary die.
func TestPrograms(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		read           func([]byte) ([]device, error)
		text           string
		watts, hottest float64
		bad            bool
		gib            float64 // 0 for not known
	}{
		"tt-smi": {tenstorrent, `{"time":"2026-06-01T09:00:00","device_info":[
{"board_info":{"board_type":"p300c"},"telemetry":{"voltage":"0.72","asic_temperature":"43.7","power":" 18.0",
"aiclk":" 800"}},
{"board_info":{"board_type":"p300c"},"telemetry":{"asic_temperature":"46.3","power":" 13.0",
"aiclk":" 800"}}]}`, 31, 46.3, false, 0},
		"tt-smi, a chip without power": {tenstorrent, `{"device_info":[
{"telemetry":{"power":"18.0","asic_temperature":"40"}},
{"telemetry":{"asic_temperature":"N/A"}}]}`, nan, 40, false, 0},
		"tt-smi, an overflow": {tenstorrent, `{"device_info":[{"telemetry":{"power":"4294967295",
"asic_temperature":"40"}}]}`, nan, 40, false, 0},
		"tt-smi, no device":            {tenstorrent, `{"device_info":[]}`, nan, nan, true, 0},
		"nvidia-smi":                   {powers[1].read, "68.12, 35, 512\n71.90, 41, 1024\n", 140.02, 41, false, 1},
		"nvidia-smi, one cannot state": {powers[1].read, "68.12, 35, 2048\n[N/A], 41, [N/A]\n", nan, 41, false, 2},
		"nvidia-smi, an error":         {powers[1].read, "NVIDIA-SMI has failed\n", nan, nan, true, 0},
		"rocm-smi": {rocm, `{"card0": {"Temperature (Sensor edge) (C)": "49.0", "Temperature (Sensor junction) (C)": "51.0",
"Temperature (Sensor memory) (C)": "62.0", "VRAM Total Used Memory (B)": "1610612736",
"Average Graphics Package Power (W)": "19.0"}}`, 19, 62, false, 1.5},
		"rocm-smi, a sensor that is not read": {rocm, `{"card0": {"Temperature (Sensor edge) (C)": "N/A",
"Temperature (Sensor junction) (C)": "51.0", "Temperature (Sensor memory) (C)": "N/A",
"Average Graphics Package Power (W)": "19.0"}}`, 19, 51, false, 0},
		"rocm-smi, integrated": {rocm, `{"card0": {"Temperature (Sensor edge) (C)": "31.0",
			"Max Graphics Package Power (W)": "170.0",
"Current Socket Graphics Package Power (W)": "7.222"}, "system": {"Driver version": "6.8.5"}}`, 7.222, 31, false, 0},
		"rocm-smi, two dies": {rocm, `{"card0": {"Average Graphics Package Power (W)": "237.0"},
"card1": {"Average Graphics Package Power (W)": "N/A (Secondary die)"}}`, 237, nan, false, 0},
		"DCGM's exporter": {dcgm, "# TYPE DCGM_FI_DEV_GPU_TEMP gauge\n" +
			"DCGM_FI_DEV_GPU_TEMP{gpu=\"0\",UUID=\"GPU-a\",device=\"nvidia0\",modelName=\"NVIDIA H100 80GB HBM3\"} 41\n" +
			"DCGM_FI_DEV_GPU_TEMP{gpu=\"1\",UUID=\"GPU-b\"} 44\nDCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"GPU-a\"} 68.250000\n" +
			"DCGM_FI_DEV_POWER_USAGE{gpu=\"1\",UUID=\"GPU-b\",GPU_I_ID=\"7\"} 71.5\n" +
			"DCGM_FI_DEV_POWER_USAGE{gpu=\"1\",UUID=\"GPU-b\",GPU_I_ID=\"9\"} 71.5\n" +
			"DCGM_FI_DEV_FB_USED{gpu=\"0\",UUID=\"GPU-a\"} 2560\n" +
			"DCGM_FI_DEV_FB_USED{gpu=\"1\",UUID=\"GPU-b\",GPU_I_ID=\"7\"} 2048\n" +
			"DCGM_FI_DEV_FB_USED{gpu=\"1\",UUID=\"GPU-b\",GPU_I_ID=\"9\"} 1024\n", 139.75, 44, false, 3},
		"DCGM's exporter, one without power": {dcgm, "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 68.25\n" +
			"DCGM_FI_DEV_GPU_TEMP{gpu=\"1\"} 44\n", nan, 44, false, 0},
		"another page":   {dcgm, "vllm:num_requests_running 3\n", nan, nan, true, 0},
		"half an answer": {rocm, `{"card0": {"Average`, nan, nan, true, 0},
	} {
		for range 50 { // in any order of maps
			p, err := power(c.read([]byte(c.text)))
			gib := c.gib
			if gib == 0 {
				gib = nan
			}
			if (err != nil) != c.bad || err == nil &&
				(!near(p.Watts, c.watts) || !near(p.Hottest, c.hottest) || !near(p.Memory, gib)) {
				t.Errorf("%s: %+v, %v; want %g, %g and %g", name, p, err, c.watts, c.hottest, gib)
				break
			}
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 || math.IsNaN(a) && math.IsNaN(b) }

// Two packages whose counters grow by 40 and 20 J in two seconds, one of them beyond its end. Their parts do not count.
func TestRAPL(t *testing.T) {
	files := fstest.MapFS{}
	write := func(name, text string) { files[name] = &fstest.MapFile{Data: []byte(text + "\n")} }
	for i, zone := range []string{"intel-rapl:0", "intel-rapl:1", "intel-rapl:0:0"} {
		write(zone+"/name", []string{"package-0", "package-1", "core"}[i])
		write(zone+"/max_energy_range_uj", "100000000")
		write(zone+"/energy_uj", "90000000")
	}
	r := newRAPL(files)
	if r == nil {
		t.Fatal("no packages")
	}
	write("intel-rapl:0/energy_uj", "30000000")
	write("intel-rapl:1/energy_uj", "90000000")
	write("intel-rapl:0:0/energy_uj", "95000000")
	write("intel-rapl:1/energy_uj", "10000000")
	if got := r.watts(r.at.Add(2 * time.Second)); !near(got, 30) {
		t.Errorf("%g W, want 40 J and 20 J in two seconds", got)
	}
	delete(files, "intel-rapl:1/energy_uj") // it may be root's alone
	if got := r.watts(r.at.Add(time.Second)); !math.IsNaN(got) {
		t.Errorf("%g W of a package that cannot be read", got)
	}
	if newRAPL(files) != nil || newRAPL(fstest.MapFS{}) != nil {
		t.Error("packages where none can be read")
	}
}

// The first reading of a measurement is of the time since it began, also after another measurement of the same meter.
func TestPowerSinceTheBeginning(t *testing.T) {
	files := fstest.MapFS{}
	joules := 0
	write := func(name, text string) { files["intel-rapl:0/"+name] = &fstest.MapFile{Data: []byte(text)} }
	grow := func(by int) {
		joules += by
		write("energy_uj", fmt.Sprint(joules*1_000_000))
	}
	write("name", "package-0")
	write("max_energy_range_uj", "100000000000")
	grow(0)
	m := Meter{cpu: newRAPL(files)}
	grow(5000) // the start of the server
	for range 2 {
		r := m.Begin()
		time.Sleep(time.Millisecond)
		if got := r.Read(t.Context()); got.CPU != 0 {
			t.Errorf("%g W of a machine that took nothing since", got.CPU)
		}
		grow(3)
		time.Sleep(time.Millisecond)
		if got := r.Read(t.Context()); !(got.CPU > 0 && got.CPU < 3000) {
			t.Errorf("%g W, want 3 J in a millisecond or more", got.CPU)
		}
		grow(7000) // other points
	}
}
