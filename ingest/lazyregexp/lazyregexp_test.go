package lazyregexp_test

import (
	"sync"
	"testing"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
)

func TestRegexp(t *testing.T) {
	t.Parallel()
	re, group := lazyregexp.New(`(\w+)=(\d+)`), sync.WaitGroup{}
	for range 8 {
		group.Go(func() {
			if m := re.FindStringSubmatch("isl=128"); len(m) != 3 || m[1] != "isl" || m[2] != "128" {
				t.Errorf("found %q", m)
			}
		})
	}
	group.Wait()
}

// An invalid pattern shows in every test of its package, whether or not that uses it.
func TestInvalid(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("an invalid pattern is not noticed")
		}
	}()
	lazyregexp.New(`(`)
}
