package collect

import (
	"context"
	"maps"
	"net"
	"net/url"
	"strconv"
	"time"

	"al.essio.dev/pkg/shellescape"

	"github.com/ttreport/ttreport/collect/host"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
)

// Facts of a manifest's setting that state how the server was started, for a shell: the command line of a program, the
// arguments of an image.
const (
	SettingServer     = "server"
	SettingServerPort = "server_port" // where the command line does not state it
	SettingImageArgs  = "image_args"
)

// readHost reads facts about the host if the server runs on this machine, and the start time of a server that we
// started.
func (s *session) readHost(ctx context.Context, srv server.Server, took time.Duration) {
	_, ours := srv.(server.Supervised)
	s.machine.Setting = host.Scheduler()
	if s.plan.Device == schema.Simulated || !ours && !local(s.end.URL) {
		return
	}
	s.machine = host.Read(ctx)
	s.findMeter(ctx)
	maps.Copy(s.machine.Setting, host.Scheduler())
	switch srv := srv.(type) {
	case *server.Command:
		s.machine.Setting[SettingServer] = shellescape.QuoteCommand(redact.Argv(srv.Argv))
		name := plan.ServerName{Kind: plan.ServerCommand, Argv: srv.Argv}
		if u, err := url.Parse(srv.URL); err == nil && u.Port() != "" && name.Address(0) != srv.URL {
			s.machine.Setting[SettingServerPort] = u.Port()
		}
	case *server.Container: // whose name differs every time
		if len(srv.Args) > 0 {
			s.machine.Setting[SettingImageArgs] = shellescape.QuoteCommand(redact.Argv(srv.Args))
		}
	}
	if ours {
		s.machine.Setting[schema.SettingStartup] = strconv.FormatFloat(took.Seconds(), 'f', 1, 64)
	}
}

// local reports whether an address is on this machine's loopback interface.
func local(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
