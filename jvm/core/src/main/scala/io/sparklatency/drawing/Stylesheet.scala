package io.sparklatency.drawing

/**
 * How drawings and pages look: in the colours of Spark's pages, whose theme (light or dark) sets their variables. In both,
 * text has a contrast of 4.5 to 1 with what is under it, and marks of 3 to 1 with the page, which is between neighbours:
 * two pixels of it between parts of an age, half a pixel between phases of a batch.
 *
 * Before Spark 4.2 its pages are light and set none of these variables, and know some classes by other names. Then ours
 * stand in: by `:where` they count less than whatever a page sets itself.
 */
object Stylesheet {
  val css: String =
    """
      |:where(:root) { --bs-body-bg: #ffffff; --bs-body-color: #212529; --bs-secondary-color: rgba(33, 37, 41, 0.75); }
      |:where(:root) { --bs-border-color: #dee2e6; --bs-link-color: #0d6efd; }
      |:where(:root) { --bs-warning-text-emphasis: #664d03; --bs-danger-text-emphasis: #58151c; }
      |:where(.text-body-secondary) { color: var(--bs-secondary-color); }
      |:where(.me-3) { margin-right: 1rem; }
      |:root { --latency-heat: #fd7e14; --latency-line: #0d6efd; --latency-high: #b35900; --latency-lift: 0%; }
      |[data-bs-theme="dark"] { --latency-line: #6ea8fe; --latency-high: #fd7e14; --latency-lift: 45%; }
      |.latency-scroll { overflow-x: auto; }
      |.latency-scroll table { margin-bottom: .5rem; }
      |.latency-scroll th, .latency-scroll td { white-space: nowrap; text-align: right; font-variant-numeric: tabular-nums; }
      |.latency-scroll .latency-text { text-align: left; font-variant-numeric: normal; }
      |.latency-headline { font-size: 1.5rem; margin: 0 0 .25rem; }
      |.latency-note { margin: 0; color: var(--bs-secondary-color); }
      |.latency-note-warn { color: var(--bs-warning-text-emphasis); }
      |.latency-note-wrong { color: var(--bs-danger-text-emphasis); font-weight: 700; }
      |.latency-split { display: flex; gap: 2px; max-width: 60rem; height: 1.25rem; margin: .75rem 0 .25rem; border-radius: .25rem; overflow: hidden; }
      |.latency-split div { min-width: 2px; }
      |.latency-part { background-color: color-mix(in srgb, var(--latency-part), var(--bs-body-color) var(--latency-lift)); }
      |.latency-part-arrived-old { --latency-part: #6c757d; }
      |.latency-part-backlog { --latency-part: #a61e4d; }
      |.latency-part-waited-for-the-batch-before { --latency-part: #b35900; }
      |.latency-part-waited-for-the-trigger { --latency-part: #997404; }
      |.latency-part-start-of-the-batch { --latency-part: #087990; }
      |.latency-part-source-queuing { --latency-part: #b35900; }
      |.latency-part-processing, .latency-part-work { --latency-part: #0d6efd; }
      |.latency-part-waited-in-state { --latency-part: #6f42c1; }
      |.latency-part-commit { --latency-part: #146c43; }
      |svg.latency-graph, svg.latency-chart { display: block; font-size: 12px; fill: currentColor; }
      |svg.latency-chart { width: 100%; min-width: 360px; max-width: 48rem; }
      |svg.latency-sparkline { width: 6em; height: 1.2em; margin-left: .5em; vertical-align: text-bottom; }
      |.latency-sparkline polyline { fill: none; stroke: var(--latency-line); stroke-width: 1.5px; }
      |@media (max-width: 767px) { svg.latency-sparkline { display: block; margin-left: auto; } }
      |.latency-wrapped { white-space: normal !important; overflow-wrap: anywhere !important; min-width: 7rem; text-wrap: balance; }
      |.latency-phase { fill: color-mix(in srgb, var(--latency-phase), var(--bs-body-color) var(--latency-lift)); stroke: var(--bs-body-bg); stroke-width: .5px; }
      |.latency-phase-latestOffset { --latency-phase: #087990; }
      |.latency-phase-getBatch { --latency-phase: #a61e4d; }
      |.latency-phase-queryPlanning { --latency-phase: #997404; }
      |.latency-phase-walCommit { --latency-phase: #6f42c1; }
      |.latency-phase-addBatch { --latency-phase: #0d6efd; }
      |.latency-phase-commitOffsets { --latency-phase: #146c43; }
      |.latency-phase-other { --latency-phase: #6c757d; }
      |.latency-rate { fill: none; stroke: currentColor; stroke-width: 1.5px; stroke-dasharray: 4 3; }
      |.latency-graph a, .latency-graph a:hover { text-decoration: none; color: inherit; }
      |.latency-box { fill: var(--bs-body-bg); stroke: var(--bs-secondary-color); }
      |.latency-node:hover .latency-heat, .latency-node:focus-visible .latency-heat { stroke: var(--bs-link-color); stroke-width: 3px; }
      |.latency-node:focus-visible { outline: none; }
      |.latency-folded .latency-box { stroke-dasharray: 4 3; }
      |.latency-heat { fill: var(--latency-heat); }
      |.latency-critical .latency-heat { stroke: currentColor; stroke-width: 2px; }
      |.latency-id { font-weight: 700; }
      |.latency-share { text-anchor: end; font-weight: 700; }
      |.latency-work-share { text-anchor: end; }
      |.latency-work-bar { fill: currentColor; }
      |.latency-work-track { fill: currentColor; fill-opacity: .2; }
      |.latency-edge { fill: none; stroke: var(--bs-secondary-color); }
      |.latency-arrow { fill: var(--bs-secondary-color); }
      |.latency-edge.latency-critical { stroke: currentColor; stroke-width: 2.5px; }
      |.latency-arrow.latency-critical { fill: currentColor; }
      |.latency-grid { stroke: var(--bs-border-color); shape-rendering: crispEdges; }
      |.latency-tick { fill: var(--bs-secondary-color); }
      |.latency-band { fill: var(--latency-line); fill-opacity: .25; stroke: var(--latency-line); stroke-opacity: .7; }
      |.latency-avg { fill: none; stroke: var(--latency-line); stroke-width: 2px; }
      |.latency-max { fill: none; stroke: var(--latency-high); stroke-width: 1.5px; stroke-dasharray: 4 3; }
      |.latency-hints path { fill: transparent; }
      |.latency-hints path:hover { fill: currentColor; fill-opacity: .12; }
      |.latency-key { display: inline-block; width: 1.5em; height: .8em; margin-right: .35em; vertical-align: baseline; }
      |""".stripMargin
}
