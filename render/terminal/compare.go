package terminal

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/ttreport/ttreport/render"
)

// Compare writes a comparison as an aligned table with its notes.
func Compare(w io.Writer, c *render.Comparison) error {
	t := c.Table()
	for _, s := range c.Head() {
		fmt.Fprintln(w, s)
	}
	if len(c.Head()) > 0 {
		fmt.Fprintln(w)
	}
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	var heads []string
	for i, col := range t.Cols {
		head := strings.ToUpper(col.Head)
		if i == 2 || i == 3 { // the names of the sides, as they were given
			head = col.Head
		}
		heads = append(heads, head)
	}
	fmt.Fprintln(tw, strings.Join(heads, "\t"))
	for _, r := range t.Rows {
		var cells []string
		for _, cell := range r.Cells {
			cells = append(cells, cell.Text)
		}
		fmt.Fprintln(tw, strings.Join(cells, "\t"))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, s := range c.Notes() {
		fmt.Fprintln(w, s)
	}
	return nil
}
