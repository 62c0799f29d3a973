export function docsPage(_d: unknown) {
  return { html: '', policy: "default-src 'none'" }
}
