/** Style of the page: readable in light and dark, on a phone and on paper. */
import { Markup } from './markup.ts'

/** For the `style` element. */
export const STYLE = new Markup(`
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 80rem; padding: 1rem; }
section { overflow-x: auto; }
table { border-collapse: collapse; }
caption { text-align: left; padding: .25rem 0; }
th, td { border-bottom: 1px solid #8886; padding: .25rem .6rem; text-align: left; vertical-align: top; }
code { font-size: .9em; overflow-wrap: anywhere; }
dl { display: grid; gap: .1rem 1rem; grid-template-columns: max-content 1fr; }
dt { font-weight: 600; }
dd { margin: 0; }
.fields { align-items: end; display: flex; flex-wrap: wrap; gap: 1rem; margin: 1rem 0; }
.fields label { display: grid; }
.bad td { background: #d3302f22; }
li form { display: inline; }
button, select, input { box-sizing: border-box; font: inherit; max-width: 100%; padding: .2rem .5rem; }
input { width: 11rem; }
@media (max-width: 45rem) {
  h1 { font-size: 1.5rem; }
  dl { grid-template-columns: 1fr; }
  dd { margin-bottom: .4rem; overflow-wrap: anywhere; }
  table, caption, tbody, tr, th, td { display: block; }
  thead { display: none; }
  tr { border-bottom: 1px solid #8886; padding: .4rem 0; }
  th, td { border: 0; overflow-wrap: anywhere; padding: .1rem 0; }
  td[data-label]::before { content: attr(data-label) ': '; font-weight: 600; }
  .fields label, .fields select, .fields input { width: 100%; }
}
`)
