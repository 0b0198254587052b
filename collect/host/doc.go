// Package host reads what the machine that a measurement runs on states of itself: facts such as kernel, processor,
// governor and accelerators, their power and temperature.
//
// In: files of the kernel, what tt-smi, nvidia-smi and rocm-smi print, and what DCGM's exporter answers. Out: short
// texts by name ([Facts]), and readings of power ([Meter]). What the machine does not state is left out. A sum of power
// is known only where every device states its part: half of the boards are no power of a host. The package must not
// know the names that plans use for devices, servers, or what is measured meanwhile.
//
// Sources of the formats: tt-smi's snapshot (telemetry of device_info, power of each chip), nvidia-smi
// --help-query-gpu (power.draw is that of the whole board), rocm-smi --json ("Average Graphics Package Power" or
// "Current Socket Graphics Package Power"; a secondary die is part of the primary one), Documentation/power/powercap of
// Linux (energy_uj counts up to max_energy_range_uj).
package host
