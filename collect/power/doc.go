// Package power reads the power and the temperature of the machine that it runs on.
//
// In: what tt-smi, nvidia-smi and rocm-smi print, and the counters of Linux's powercap (RAPL). Out: a [Reading]: watts
// of all accelerators of the host and of its processors' packages, and the temperature of the hottest accelerator. A
// sum is known only where every device states its part: half of the boards are no power of a host. It must not know
// servers or what is measured meanwhile.
//
// Sources of the formats: tt-smi's snapshot (telemetry of device_info, power of each chip), nvidia-smi
// --help-query-gpu (power.draw is that of the whole board), rocm-smi --json ("Average Graphics Package Power" or
// "Current Socket Graphics Package Power"; a secondary die is part of the primary one), Documentation/power/powercap of
// Linux (energy_uj counts up to max_energy_range_uj).
package power
