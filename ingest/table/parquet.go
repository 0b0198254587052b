package table

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// IsParquet reports the name of a Parquet file.
func IsParquet(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".parquet") }

// readParquet reads the rows of a Parquet file by the mapping of the JSON lines that they would be, up to the limits of
// those.
func (t Table) readParquet(f *decode.File) (r schema.Reading) {
	bad := func(found any, used string) {
		p := f.Problem(schema.SevError, "bad-table", decode.Value{})
		p.Found, p.Expected, p.Used = fmt.Sprint(found), "a Parquet file of rows of numbers and texts", used
		r.Problems = append(r.Problems, p)
	}
	defer func() {
		if x := recover(); x != nil { // parquet-go does so for damaged pages
			r = schema.Reading{Format: t.format()}
			bad(x, "nothing of it")
		}
	}()
	// The library makes room for a footer of the length that the file states: 4 GB for a byte that is damaged.
	if n := len(f.Data) - 8; n < 4 || int64(binary.LittleEndian.Uint32(f.Data[n:])) > int64(n) {
		r.Format = t.format()
		bad("a footer that is longer than the file", "nothing of it")
		return r
	}
	file, err := parquet.OpenFile(bytes.NewReader(f.Data), int64(len(f.Data)), parquet.SkipBloomFilters(true),
		parquet.SkipPageIndex(true))
	if err != nil {
		r.Format = t.format()
		bad(err, "nothing of it")
		return r
	}
	rows := parquet.NewGenericReader[map[string]any](file, file.Schema())
	defer rows.Close()
	var lines bytes.Buffer
	out := json.NewEncoder(&lines)
	one := []map[string]any{{}}
	for n := 0; n <= f.Limits().Results && err == nil && int64(lines.Len()) < f.Limits().Bytes; n++ {
		clear(one[0])
		var read int
		if read, err = rows.Read(one); read == 0 {
			continue
		}
		for name, v := range one[0] {
			one[0][name] = plain(v)
		}
		err = cmp.Or(err, out.Encode(one[0]))
	}
	sum := sha256.Sum256(f.Data) // nobody hashes what is binary
	f.SHA256 = hex.EncodeToString(sum[:])
	f.Content = f.SHA256
	if r = t.Read(f.Within(lines.String())); err != nil && err != io.EOF {
		bad(err, "the rows before it")
	}
	return r
}

// plain is a value of a row as JSON can have it.
func plain(v any) any {
	switch x := v.(type) {
	case float64, float32:
		if text := fmt.Sprint(x); text == "NaN" || strings.HasSuffix(text, "Inf") {
			return nil
		}
	case []byte:
		return string(x)
	}
	return v
}
