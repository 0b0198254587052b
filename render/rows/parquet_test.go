package rows

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// What is written is read back, absent numbers as null, and the same rows are the same bytes.
func TestFile(t *testing.T) {
	v := Num(1.5)
	rows := []Point{{Partition: "1.10", Metric: "ttft", Value: &v}, {Partition: "1.10", Missing: "it was not run"}}
	a, err := file(rows)
	if err != nil {
		t.Fatal(err)
	}
	b, err := file(rows)
	if err != nil || !bytes.Equal(a, b) {
		t.Errorf("%v: two files of the same rows differ", err)
	}
	got, err := parquet.Read[Point](bytes.NewReader(a), int64(len(a)))
	if err != nil || len(got) != 2 || got[0].Partition != "1.10" || *got[0].Value != v || got[1].Value != nil ||
		got[1].ISL != nil || got[1].Missing != "it was not run" {
		t.Errorf("%v %+v", err, got)
	}
	empty, err := file[Score](nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := parquet.Read[Score](bytes.NewReader(empty), int64(len(empty))); err != nil || len(got) != 0 {
		t.Errorf("%v %+v", err, got)
	}
}

// Two releases have two folders on every file system, within the table's.
func TestPartitions(t *testing.T) {
	got := Partitions([]string{"v1.0", "../x", "RC", "rc", "a b=c", "V2"})
	for i, want := range []string{
		"partition=v1.0", "partition=..%2Fx", "partition=%52%43", "partition=rc", "partition=a%20b%3Dc", "partition=V2",
	} {
		if got[i] != want {
			t.Errorf("%q, want %q", got[i], want)
		}
	}
}

// What a row does not state is null in every column that can be absent, a number of questions or measurements too: 0
// would be a number that somebody adds up. The page about exports lists all columns.
func TestAbsentIsNull(t *testing.T) {
	page, err := os.ReadFile("../../templates/docs/export.md")
	if err != nil {
		t.Fatal(err)
	}
	score, verdict := []Score{{N: stated[int, int64](0)}}, []Verdict{{N: stated[int, int64](0)}}
	for name, table := range map[string]struct {
		data   func() ([]byte, error)
		stated string // columns that every row has
	}{
		"runs":     {func() ([]byte, error) { return file([]Run{{}}) }, "release run model simulated errors warnings"},
		"points":   {func() ([]byte, error) { return file([]Point{{}}) }, "release run model simulated key repeat status"},
		"scores":   {func() ([]byte, error) { return file(score) }, "release run model simulated"},
		"verdicts": {func() ([]byte, error) { return file(verdict) }, "release id model simulated key verdict"},
		"changes": {func() ([]byte, error) { return file([]Change{{Effect: new(Num)}}) }, "release change worse evidence " +
			"state open since points numbers of_numbers effect_positive_is_worse effect_low effect_high limit text"},
	} {
		data, err := table.data()
		if err != nil {
			t.Fatal(err)
		}
		f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		var columns []string
		for _, c := range f.Schema().Columns() {
			columns = append(columns, "`"+c[0]+"`")
		}
		told := regexp.MustCompile("(?m)^\\| `" + name + "` .*\\| " + strings.Join(columns, " ") + " \\|$")
		if !told.Match(page) {
			t.Errorf("the page about exports does not list the columns of %s: %s", name, columns)
		}
		stated := strings.Fields(table.stated)
		for i, c := range f.RowGroups()[0].ColumnChunks() {
			column := f.Schema().Columns()[i][0]
			index, err := c.ColumnIndex()
			if err != nil {
				t.Fatal(err)
			}
			if null := index.NullCount(0) == 1; null == slices.Contains(stated, column) {
				t.Errorf("%s.%s: null %t", name, column, null)
			}
		}
	}
	if n := stated[int, int64](3); n == nil || *n != 3 {
		t.Error("a number that is stated is lost")
	}
}
