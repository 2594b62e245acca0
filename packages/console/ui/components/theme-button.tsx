/** Changes between dark and light. */
import { toggleTheme, useTheme } from '../state/viewport.ts'

/** The button. */
export function ThemeButton() {
  const theme = useTheme()
  return (
    <button type="button" class="quiet" aria-label="Change between dark and light" onClick={toggleTheme}>
      {theme === 'dark' ? '☀' : '☾'}
    </button>
  )
}
