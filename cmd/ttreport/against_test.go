package main

import (
	"testing"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// A server whose command line does not say --port is started again at the port where it was, unless another is asked.
func TestBaselineHasItsPort(t *testing.T) {
	for name, c := range map[string]struct {
		setting map[string]string
		asked   int
		want    int
	}{
		"kept":                {map[string]string{collect.SettingServerPort: "18081"}, 0, 18081},
		"another is asked":    {map[string]string{collect.SettingServerPort: "18081"}, 9000, 9000},
		"in its command":      {nil, 0, 0},
		"of the candidate is": {map[string]string{}, 8001, 8001},
	} {
		head := columns.RunHead{Setting: map[string]string{collect.SettingServer: "python3 serve.py 18081"}}
		for k, v := range c.setting {
			head.Setting[k] = v
		}
		var o collectOptions
		o.against.port, o.Server.Port = c.asked, c.asked
		if err := o.startAs(&head); err != nil || o.Server.Port != c.want {
			t.Errorf("%s: port %d, %v; want %d", name, o.Server.Port, err, c.want)
		}
	}
}
