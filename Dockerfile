# The service without the embedded PostgreSQL: set DATABASE_URL. It runs as user node and needs no writable
# file system.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# Includes optional packages, because the compiler itself is one.
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
RUN node scripts/build.js --force && rm -f dist/.stamp

FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --no-audit --no-fund

FROM node:24-slim
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY migrations migrations
COPY package.json LICENSE ./
RUN ln -s /app/dist/cli.js /usr/local/bin/sps && chmod +x dist/cli.js
USER node
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=10m --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8080}/readyz`).then((a) => process.exit(a.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/main.js"]
