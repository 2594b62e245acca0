// Preloaded with --import: prints the address of every module that the process loaded, as the last
// line of its standard error.
import { writeSync } from 'node:fs'
import module from 'node:module'

const urls = []
module.registerHooks({
  load(url, context, nextLoad) {
    urls.push(url)
    return nextLoad(url, context)
  },
})
process.on('exit', () => writeSync(2, `\n${JSON.stringify(urls)}`))
