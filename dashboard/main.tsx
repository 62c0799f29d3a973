import { render } from 'preact'
import { App } from './view/app.tsx'
import { drawVisibleText } from './view/draw-visible-text.ts'

drawVisibleText()
const root = document.querySelector('#app')
if (root !== null) render(<App />, root)
