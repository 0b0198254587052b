package rows

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
)

// Tables are the names of the tables, which are folders, in the order in which they are written: a release is in runs
// when it is in all others.
func Tables() []string { return []string{"points", "scores", "verdicts", "changes", "runs"} }

// File returns the file of a table and a release.
func File(r *render.Report, table string, release int) ([]byte, error) {
	switch table {
	case "runs":
		return file(runs(r, release))
	case "points":
		return file(statistics(r, release))
	case "scores":
		return file(Scores(r, release))
	case "changes":
		var out []Change
		list := r.Gate.Changes(release)
		for i := range list {
			out = append(out, changeOf(&list[i], r.Releases[release].Name))
		}
		return file(out)
	}
	return file(verdicts(r, release, func(*schema.Verdict) bool { return true })) // those without a finding too
}

// file writes rows, in groups that a reader can skip by their smallest and largest values.
func file[T any](rows []T) ([]byte, error) {
	var b bytes.Buffer
	schema := parquet.NewSchema(strings.ToLower(reflect.TypeFor[T]().Name()), parquet.SchemaOf(new(T)))
	w := parquet.NewGenericWriter[T](&b, schema, parquet.Compression(&parquet.Zstd),
		parquet.CreatedBy("ttreport", "1", ""))
	const group = 100_000
	for len(rows) > 0 {
		n := min(group, len(rows))
		_, err := w.Write(rows[:n])
		if err = cmp.Or(err, w.Flush()); err != nil {
			return nil, fmt.Errorf("writing Parquet: %w", err)
		}
		rows = rows[n:]
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("writing Parquet: %w", err)
	}
	return b.Bytes(), nil
}

// Partitions returns the folder of each release below a table's: partition=NAME, with everything but letters, digits,
// dots, dashes and underscores as %XX, which readers of Hive's layout turn back. Of names that differ in case alone the
// capitals are written so too: on some file systems they would be one folder.
func Partitions(names []string) []string {
	alike := map[string]int{}
	for _, n := range names {
		alike[strings.ToLower(n)]++
	}
	out := make([]string, len(names))
	for i, n := range names {
		b := []byte("partition=")
		for _, c := range []byte(n) {
			plain := 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("._-", c) >= 0
			if plain || 'A' <= c && c <= 'Z' && alike[strings.ToLower(n)] == 1 {
				b = append(b, c)
			} else {
				b = fmt.Appendf(b, "%%%02X", c)
			}
		}
		out[i] = string(b)
	}
	return out
}
