package words

import (
	"fmt"

	"github.com/ttreport/ttreport/ingest/schema"
)

// together says of a number that it moved with its model, or for certain and by less than what matters.
func together(v *schema.Verdict, r schema.Change, moved, noisy string) string {
	if r.Why == schema.WhyRunShift {
		return moved + fmt.Sprintf(", as all of %s on %s did (%s): one finding, counted once.",
			v.Model, v.Device, shift(r))
	}
	since := ""
	if v.First != "" {
		since = ", since " + v.First
	}
	return noisy + ": a real change" + since + ", below the limit of " + digits(100*r.Limit) + Thin + "%."
}
