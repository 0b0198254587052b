package collect

import (
	"testing"

	"github.com/ttreport/ttreport/collect/server"
)

// The port of a server is a fact of its run where the command line does not state it.
func TestServerPortIsKept(t *testing.T) {
	for argv, want := range map[string]string{"18081": "18081", "--port=18081": ""} {
		srv := &server.Command{Argv: []string{"serve", argv}, Attached: server.Attached{URL: "http://127.0.0.1:18081"}}
		s := &session{srv: srv}
		s.readHost(t.Context())
		if got := s.machine.Setting[SettingServerPort]; got != want || s.machine.Setting[SettingServer] == "" {
			t.Errorf("serve %s: port %q, want %q", argv, got, want)
		}
	}
}
