package collect

import (
	"path/filepath"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Finished returns the run folder of a complete run of a plan below results; "" when there is none.
func Finished(p plan.Plan, results string) string {
	names, err := filepath.Glob(filepath.Join(results, "*", manifest.JournalName))
	if err != nil {
		return ""
	}
	digest := p.Digest()
	for _, name := range names {
		data, err := rootfs.ReadFile(name, mostJournal)
		if err != nil {
			continue
		}
		same := false
		for _, e := range manifest.ReadJournal(data) {
			switch e.Event {
			case "run-start":
				same = e.Result == digest
			case manifest.EventRunDone:
				if same {
					return filepath.Dir(name)
				}
			}
		}
	}
	return ""
}
