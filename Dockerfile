# An image of this site, see docs/operate/deployment.md. `docker build -t site .`
# The version of Node.js is that of .nvmrc; a test compares them.
ARG NODE_VERSION=20

# Everything that compiles or builds: isolated-vm and better-sqlite3 need a compiler.
FROM node:${NODE_VERSION}-bookworm AS build
WORKDIR /srv/site
ENV NODE_ENV=development STRAPI_TELEMETRY_DISABLED=true
# First what says which packages there are: they are installed again only when that changes.
COPY package.json package-lock.json .npmrc ./
COPY plugins/apps/package.json plugins/apps/
COPY plugins/apps-python/package.json plugins/apps-python/
COPY plugins/apps-node22/package.json plugins/apps-node22/
RUN npm ci --no-audit --no-fund
COPY . .
RUN node -e "import('./scripts/prepare.mjs').then(({ build }) => build('pluginServer', 'pluginPanel', 'host', 'panel'))"
RUN npm prune --omit=dev --no-audit --no-fund
RUN mkdir -p data public/uploads .tmp && rm -rf .cache .git

FROM node:${NODE_VERSION}-bookworm-slim
WORKDIR /srv/site
ENV NODE_ENV=production STRAPI_TELEMETRY_DISABLED=true HOST=0.0.0.0 PORT=1337 DATABASE_FILENAME=data/site.db
COPY --from=build /srv/site ./
# What the server writes; the rest may be read-only. The other files belong to root.
RUN chown -R node:node data public/uploads .tmp
USER node
EXPOSE 1337
VOLUME ["/srv/site/data", "/srv/site/public/uploads"]
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/_apps/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Without a shell or npm between: signals reach the server.
CMD ["node", "node_modules/@strapi/strapi/bin/strapi.js", "start"]
