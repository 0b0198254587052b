package doctor

import (
	"cmp"
	"context"
	"errors"

	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/collect/tool/environment"
)

// findTool looks for one tool.
func findTool(ctx context.Context, find environment.Tools, a tool.Adapter) Finding {
	pin := environment.Pin(a.Name, cmp.Or(a.Package, a.Name))
	found, err := find.Find(ctx, a.Name, a.Program, a.Module)
	switch {
	case err == nil && found.From == "environment":
		return Finding{true, a.Name, "its own environment with " + pin + ", " + found.Dir, ""}
	case err == nil:
		return Finding{true, a.Name, found.From + ", " + found.Program, ""}
	case !errors.Is(err, environment.ErrNone):
		return Finding{false, a.Name, err.Error(), "correct tools: in ttreport.yaml"}
	case pin == "":
		fix := "tools: {" + a.Name + ": /path/to/" + a.Program + "} in ttreport.yaml"
		return Finding{false, a.Name, "not installed, and ttreport does not install it", fix}
	}
	return Finding{false, a.Name, "not installed yet; " + pin + " is pinned", "ttreport doctor --make " + a.Name}
}

// environments says what makes the environments of tools.
func environments() Finding {
	const what = "environments"
	switch {
	case environment.OnPath("uv"):
		return Finding{true, what, "made with uv", ""}
	case environment.OnPath("python3"):
		return Finding{true, what, "made with python3 -m venv; uv would be faster", ""}
	}
	return Finding{false, what, "neither uv nor python3 is installed", "apt-get install python3-venv"}
}
