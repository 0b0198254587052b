// Package echarts describes the figures that readers work with as ECharts options, by way of go-echarts' structs. It
// is the only importer of go-echarts, and never uses its HTML renderer, which executes script that it finds in data.
//
// In go blocks of a page; out goes JSON for the page's script. What JSON cannot hold is a name that the script
// replaces: a formatter such as "@point" by a function of the script's own, a colour such as "--c1" by that custom
// property of the style sheet.
package echarts
