package collect

import (
	"errors"
	"io/fs"

	"github.com/ttreport/ttreport/collect/server"
)

// Advice is what to do about an error of [Run], [Demo] or a server. results is the folder where what was measured is
// kept; "" when nothing was.
func Advice(err error, results string) string {
	const nothing = "nothing was measured"
	kept := nothing
	if results != "" {
		kept = "what was measured until now is kept in " + results
	}
	for _, a := range []struct {
		of   error
		text string
	}{
		{server.ErrDenied, "set OPENAI_API_KEY, or JWT_SECRET for tt-inference-server's images, in the environment " +
			"or in .env; " + nothing},
		{server.ErrNotStarted, "ttreport doctor tells what is missing to start a server; " + nothing},
		{server.ErrOtherModel, "--model is the name that the server lists; " + nothing},
		{server.ErrNotReady, "is the server running, and is the port right? " + nothing},
		{ErrFull, "make room and run the same command again: it resumes. " + kept},
		{server.ErrDied, "its log is server.log in the run folder; the same command resumes. " + kept},
		{ErrOtherServer, "measure with the server as it was, or begin anew with --no-resume"},
		{ErrSimulated, "--device simulated is for the simulator, and the simulator for it"},
		{server.ErrPortTaken, nothing},
		{fs.ErrPermission, "the current folder cannot be written to"},
	} {
		if errors.Is(err, a.of) {
			return a.text
		}
	}
	return kept
}
