package schema_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
)

func TestSameDevice(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"n150", "N150", true}, {"Simulated", schema.Simulated, true}, {" t3k ", "t3k", true}, {"n150", "n300", false},
		{"", "", true}, {"", "n150", false}, {"H100 SXM", "h100-sxm", false},
	} {
		if schema.SameDevice(c.a, c.b) != c.want || schema.SameDevice(c.b, c.a) != c.want {
			t.Errorf("%q and %q", c.a, c.b)
		}
	}
}

func TestDeviceWithin(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"A100, A100, A100, A100", "A100, A100, A100, A100, A100, A100, A100, A100", false},
		{"h100", "NVIDIA H100 80GB HBM3", true}, {"A100-SXM4-40GB", "a100", true},
		{"RTX 4090", "NVIDIA GeForce RTX 4090", true}, {"RTX4090", "rtx-4090", true}, {"RTX 4090", "rtx_4080", false},
		{"RTX 4090 Ti", "rtx-4090ti", true},
		{"h100", "NVIDIA H200", false}, {"A100 40GB", "NVIDIA A100 80GB", false}, {"nvidia", "NVIDIA H100", false},
		{"H200", "NVIDIA GH200 480GB", false}, {"80GB", "NVIDIA H100 80GB", false}, {"L40", "NVIDIA L40S", false},
		{"RTX 3080", "NVIDIA GeForce RTX 3080 Ti", false}, {"M2", "Apple M2 Max", false}, {"", "H100", false},
	} {
		if schema.IsDeviceWithin(c.a, c.b) != c.want || schema.IsDeviceWithin(c.b, c.a) != c.want {
			t.Errorf("%q and %q", c.a, c.b)
		}
	}
}
