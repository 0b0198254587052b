package host

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Shortened output of the three programs on machines with several accelerators.
func TestAccelerators(t *testing.T) {
	for _, tt := range []struct {
		name                        string
		read                        func([]byte) ([]device, error)
		text                        string
		chips                       int
		firmware, names, driverText string
	}{
		{"tt-smi", tenstorrent, `{"time":"2026-08-01T10:00:00","host_info":{"OS":"Linux","Kernel":"5.4.0",
"Driver":"TTKMD 1.34"},"device_info":[
{"board_info":{"bus_id":"0000:01:00.0","board_type":"n300 L","board_id":"010001"},"telemetry":{"aiclk":"1000"},
"firmwares":{"fw_bundle_version":"18.7.0.0","arc_fw":"2.27"}},
{"board_info":{"bus_id":"N/A","board_type":"n300 R","board_id":"010001"},
"firmwares":{"fw_bundle_version":"18.7.0.0"}}]}`, 2, "18.7.0.0", "1 x n300 L, 1 x n300 R", "TTKMD 1.34"},
		{"nvidia-smi", facts[1].read, "NVIDIA H100 80GB HBM3, 550.54.15, 96.00.74.00.01, 81559 MiB, 700.00 W\nNVIDIA " +
			"H100 80GB HBM3, 550.54.15, 96.00.74.00.01, 81559 MiB, 700.00 W\n", 2, "96.00.74.00.01", "2 x NVIDIA H100 80GB " +
			"HBM3 81559 MiB 700.00 W", "550.54.15"},
		{"rocm-smi", rocm, `{"card0":{"Card Series":"AMD Instinct MI300X","VBIOS version":"113-M3000100-102"},
"card1":{"Card Series":"AMD Instinct MI300X","VBIOS version":"113-M3000100-102"},
"system":{"Driver version":"6.8.5"}}`, 2, "113-M3000100-102", "2 x AMD Instinct MI300X", "6.8.5"},
	} {
		f := Facts{Setting: map[string]string{}}
		devices, err := tt.read([]byte(tt.text))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		f.accelerators(devices)
		if f.Chips != tt.chips || f.Firmware != tt.firmware || f.Setting["accelerators"] != tt.names ||
			f.Setting["driver"] != tt.driverText {
			t.Errorf("%s: %+v", tt.name, f)
		}
		if _, err := tt.read([]byte(`{"half`)); err == nil {
			t.Errorf("%s: half an answer was taken", tt.name)
		}
	}
}

// This machine states at least its kernel.
func TestThisMachine(t *testing.T) {
	f := Read(context.Background())
	if f.Setting["os"] == "" || f.Setting["cpus"] == "0" || strings.Contains(f.Setting["kernel"], "\n") {
		t.Errorf("%+v", f)
	}
}

// Warnings before JSON are left out, and a program is not waited for when a child of it keeps its output open.
func TestAsk(t *testing.T) {
	bin := t.TempDir()
	for name, script := range map[string]string{
		"warns": "echo 'WARNING: in a low-power state {0}'\necho '{\"card0\":\n{}}'",
		"plain": "printf '{\"card0\":\\n{}}\\n'",
		"lines": "echo '68.12, 35'",
		"child": "echo '{}'\nsleep 60 &",
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	for name, want := range map[string]string{"warns": "{\"card0\":\n{}}\n", "plain": "{\"card0\":\n{}}\n",
		"lines": "68.12, 35\n", "child": "{}\n"} {
		began := time.Now()
		out, err := ask(t.Context(), []string{name})
		if took := time.Since(began); err != nil || string(out) != want || took > 40*time.Second {
			t.Errorf("%s: %q after %s, %v", name, out, took, err)
		}
	}
}
