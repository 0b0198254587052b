package collect_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/server"
)

// What to do follows from the error, and says what is kept.
func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		err     error
		results string
		want    string
	}{
		{server.ErrDenied, "results", "OPENAI_API_KEY"},
		{fmt.Errorf("point 2: %w", server.ErrDied), "results",
			"the same command resumes. what has been measured so far is kept"},
		{collect.ErrFull, "", "it resumes. nothing was measured"},
		{fs.ErrPermission, "results", "cannot be written to"},
		{errors.New("something else"), "results", "is kept in results"},
		{errors.New("something else"), "", "nothing was measured"},
	} {
		if got := collect.Advice(c.err, c.results); !strings.Contains(got, c.want) {
			t.Errorf("%v: %q", c.err, got)
		}
	}
}
