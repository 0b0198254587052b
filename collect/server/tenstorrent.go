package server

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/collect/plan"
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
// tt-inference-server's run.py unless a volume is mounted there already.
func (r Request) tenstorrentArgs() []string {
	argv := []string{"--ipc", "host"}
	ids := r.Options.DeviceIDs
	if ids == "" {
		argv = append(argv, "--device", "/dev/tenstorrent")
	}
	for _, id := range strings.FieldsFunc(ids, func(r rune) bool { return r == ',' }) {
		argv = append(argv, "--device", "/dev/tenstorrent/"+id)
	}
	argv = append(argv, "--mount", "type=bind,src=/dev/hugepages-1G,dst=/dev/hugepages-1G")
	to := ":" + plan.CacheRoot
	if slices.ContainsFunc(r.Options.Volumes, func(v string) bool { return strings.HasSuffix(v, to) }) {
		return argv
	}
	impl := cmp.Or(r.System.Impl, "tt-transformers")
	return append(argv, "--volume", "volume_id_"+strings.ReplaceAll(impl, "-", "_")+"-"+r.Plan.Model.Name+to)
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
