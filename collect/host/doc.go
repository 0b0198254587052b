// Package host reads what a measurement ran on, as far as the machine states it: kernel, processor, governor, clock
// source, and the accelerators that tt-smi, nvidia-smi or rocm-smi list.
//
// In: files of the kernel and what those programs print. Out: short texts by name. What nothing states is left out.
// What a device is called in a plan, this package must not know.
package host
