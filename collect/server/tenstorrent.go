package server

import (
	"strconv"
	"strings"
)

// IsTenstorrent reports whether a device is one of Tenstorrent's, by tt-inference-server's names.
func IsTenstorrent(device string) bool {
	name := strings.ToLower(device)
	for _, prefix := range []string{
		"e150", "n150", "n300", "t3k", "galaxy", "tg", "p100", "p150", "p300",
		"blackhole_galaxy", "dual_galaxy", "quad_galaxy", "super_cluster",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// tenstorrentArgs returns the arguments of "run" that Tenstorrent's devices need: shared memory, the device nodes,
// huge pages, and a volume for converted weights and compiled kernels, with the name and path of
// tt-inference-server's run.py. ids are the numbers of devices, "0,1"; "" selects all.
func tenstorrentArgs(ids, impl, model string) []string {
	argv := []string{"--ipc", "host"}
	if ids == "" {
		argv = append(argv, "--device", "/dev/tenstorrent")
	}
	for _, id := range strings.FieldsFunc(ids, func(r rune) bool { return r == ',' }) {
		argv = append(argv, "--device", "/dev/tenstorrent/"+id)
	}
	if impl == "" {
		impl = "tt-transformers"
	}
	volume := "volume_id_" + strings.ReplaceAll(impl, "-", "_") + "-" + model
	return append(argv, "--mount", "type=bind,src=/dev/hugepages-1G,dst=/dev/hugepages-1G", "--volume",
		volume+":/home/container_app_user/cache_root")
}

// tenstorrentImageArgs returns the arguments of tt-inference-server's images, as its run_docker_server.py passes
// them.
func (r Request) tenstorrentImageArgs() []string {
	args := []string{"--model", r.System.Model, "--tt-device", strings.ToLower(r.System.Device)}
	if r.Options.NoAuth {
		args = append(args, "--no-auth")
	}
	if r.Plan.NoWarmup {
		args = append(args, "--disable-trace-capture")
	}
	if port := r.Options.Port; port != 0 && port != 8000 {
		args = append(args, "--service-port", strconv.Itoa(port))
	}
	return args
}
