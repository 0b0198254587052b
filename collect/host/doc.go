// Package host reads facts about the machine that a measurement runs on, as far as the machine states them: kernel,
// processor, governor, clock source, and the accelerators that tt-smi, nvidia-smi or rocm-smi list.
//
// In: files of the kernel and what those programs print. Out: short texts by name. A fact that the machine does not
// state is left out. The package must not know the names that plans use for devices.
package host
