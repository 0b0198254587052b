package render

// Folded is a table that is there when somebody asks for it: the numbers behind a picture.
type Folded struct{ Table *Table }

// Kind implements Block.
func (Folded) Kind() string { return "folded" }

// Plain implements Block.
func (f Folded) Plain() []Block { return []Block{f.Table} }
