package echarts_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/ttreport/ttreport/render/chart/echarts"
)

// The script joins its numbers to the first axis of each kind and to the first series, and the style sheet has each
// colour that the option names.
func TestSeries(t *testing.T) {
	text, err := echarts.Series()
	if err != nil {
		t.Fatal(err)
	}
	var option map[string]any
	if err := json.Unmarshal([]byte(text), &option); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"xAxis", "yAxis", "series", "dataZoom", "grid"} {
		if list, ok := option[name].([]any); !ok || len(list) != 1 {
			t.Errorf("%s: %v, want a list of one", name, option[name])
		}
	}
	style, err := os.ReadFile(filepath.Join("..", "..", "..", "static", "assets", "site.css"))
	if err != nil {
		t.Fatal(err)
	}
	colours := regexp.MustCompile(`"(--[\w-]+)"`).FindAllStringSubmatch(text, -1)
	for _, c := range colours {
		if !regexp.MustCompile(regexp.QuoteMeta(c[1]) + `:`).Match(style) {
			t.Errorf("site.css states no %s", c[1])
		}
	}
	if len(colours) < 5 {
		t.Errorf("%d colours, want those of axes, line and background", len(colours))
	}
}
