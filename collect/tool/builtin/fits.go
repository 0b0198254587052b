package builtin

import (
	"context"
	"slices"
	"sync"

	"github.com/ttreport/ttreport/collect/traffic"
)

// Fits are how servers count tokens, kept from load to load: a search sends twenty loads to one server, and each would
// ask it half a dozen times. The zero value is empty; many loads may use one.
type Fits struct {
	mu sync.Mutex
	of map[served]fitted
}

// served is what counts: a model at an address, by an endpoint with its template.
type served struct {
	url, model string
	endpoint   traffic.Endpoint
	image      traffic.Image
	tools      traffic.Tools
}

// fitted is what is known of how it counts.
type fitted struct {
	fit     fit
	high    int      // tokens of someWords words
	upTo    int      // tokens of the longest prompt that was counted
	vocab   []string // words of as many tokens each
	refused []string // fields
}

func servedBy(l *Load) served { return served{l.URL, l.Model, l.Endpoint, l.Image, l.Tools} }

// put keeps the fit of a runner, where there is one.
func (f *Fits) put(r *runner, high int) {
	if f == nil || !r.prompts.fit.counted {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = map[served]fitted{}
	}
	f.of[servedBy(&r.load)] = fitted{r.prompts.fit, high, r.prompts.longest, r.prompts.vocab, slices.Clone(r.out.Refused)}
}

func (f *Fits) get(l *Load) (fitted, bool) {
	if f == nil {
		return fitted{}, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	k, ok := f.of[servedBy(l)]
	return k, ok
}

// knownFit takes the fit of an earlier load; false where there is none. Only a prompt that is longer than all that were
// counted is counted again.
func (r *runner) knownFit(ctx context.Context) bool {
	k, ok := r.load.Fits.get(&r.load)
	if !ok || r.prompts.template(r.load.Model, k.refused) != nil {
		return false
	}
	r.out.Refused, r.prompts.vocab, r.prompts.fit = slices.Clone(k.refused), k.vocab, k.fit
	r.prompts.makeTails()
	if r.prompts.longest > k.upTo && r.fitLongest(ctx, k.fit, k.high) {
		r.load.Fits.put(r, k.high)
	}
	return true
}
