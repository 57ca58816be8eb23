//! Statements (`docs/semantics.md §14`).

use hindsight_kql_types::ScalarType;

use super::Parser;
use crate::ast::{
    Expr, FunctionDeclaration, LetStatement, LetValue, Parameter, ParameterType,
    PatternDeclaration, PatternMapping, PatternRule, Query, Statement,
};
use crate::token::TokenKind;
use crate::{Code, Diagnostic};

impl Parser<'_> {
    /// Parses the whole request.
    pub(crate) fn query(&mut self) -> Query {
        if self.at(TokenKind::Dot) {
            let message = format!(
                "The management command '.{}' is not part of a query.",
                self.text(1)
            );
            return self.refused(Code::ManagementCommand, message);
        }
        if self.at(TokenKind::Bad) && self.text(0).starts_with('#') {
            let message = "A line that begins with '#' is an instruction to a client program and not part of a query.";
            return self.refused(Code::Syntax, message.to_owned());
        }
        let statements = self.statements();
        if statements.is_empty() && self.diagnostics.is_empty() {
            self.fail::<()>();
        }
        Query { statements }
    }

    fn refused(&mut self, code: Code, message: String) -> Query {
        let span = self.token(0).span;
        self.diagnostics.push(Diagnostic::new(code, message, span));
        Query::default()
    }

    /// Parses statements up to the end of the text or of the brackets around them.
    fn statements(&mut self) -> Vec<Statement> {
        let mut statements = Vec::new();
        let level = self.level();
        loop {
            while self.eat(TokenKind::Semicolon) {}
            if self.at(TokenKind::End) || (level > 0 && self.kind(0).closes()) {
                return statements;
            }
            let before = self.position;
            match self.statement() {
                Some(statement) => statements.push(statement),
                None => self.recover(level, &[TokenKind::Semicolon]),
            }
            let ended = self.at(TokenKind::Semicolon)
                || self.at(TokenKind::End)
                || (level > 0 && self.kind(0).closes());
            if !ended {
                self.fail_after_operand::<()>();
                self.recover(level, &[TokenKind::Semicolon]);
                if level > 0 && !self.at(TokenKind::Semicolon) {
                    return statements;
                }
            }
            if self.position == before {
                self.advance();
            }
        }
    }

    /// Parses `{ statements }` or `( statements )`.
    pub(crate) fn block(&mut self, open: TokenKind, close: TokenKind) -> Option<Vec<Statement>> {
        self.expect(open)?;
        let search = std::mem::replace(&mut self.search, false);
        let statements = self.nested(|p| Some(p.statements()));
        self.search = search;
        let statements = statements?;
        if statements.is_empty() {
            return self.fail();
        }
        self.expect(close)?;
        Some(statements)
    }

    fn statement(&mut self) -> Option<Statement> {
        let next_is_name = self.name_length(1).is_some();
        if self.at(TokenKind::Name) {
            match self.text(0) {
                "let" if next_is_name => return self.let_statement(),
                "set" if next_is_name => return self.set_statement(),
                "declare" if next_is_name => return self.declare(),
                "alias" if self.word_at(1, "database") => return self.alias(),
                "restrict" if self.word_at(1, "access") => return self.restrict(),
                _ => {}
            }
        }
        self.tabular().map(Statement::Expression)
    }

    fn let_statement(&mut self) -> Option<Statement> {
        self.advance();
        let name = self.defining_name()?;
        self.expect(TokenKind::Assign)?;
        let value = if self.at_function() {
            LetValue::Function(self.nested(Self::function)?)
        } else if self.at_word("entity_group") && self.kind(1) == TokenKind::LeftBracket {
            LetValue::EntityGroup(self.entity_group()?)
        } else {
            LetValue::Expr(self.tabular()?)
        };
        Some(Statement::Let(LetStatement { name, value }))
    }

    /// Parses `entity_group [ entity, … ]`; an empty one is refused.
    pub(crate) fn entity_group(&mut self) -> Option<Vec<Expr>> {
        self.expect_word("entity_group")?;
        if self.kind(1) == TokenKind::RightBracket {
            return self.fail_ahead(1);
        }
        self.bracketed_list(TokenKind::LeftBracket, TokenKind::RightBracket, Self::expr)
    }

    /// Whether `(parameters) {` follows.
    fn at_function(&self) -> bool {
        let open = usize::from(self.at_word("view"));
        self.kind(open) == TokenKind::LeftParen
            && self.kind(self.mate(open) + 1) == TokenKind::LeftBrace
    }

    fn function(&mut self) -> Option<FunctionDeclaration> {
        let start = self.start();
        let view = self.eat_word("view");
        let parameters = self.parameter_declarations()?;
        let body = self.block(TokenKind::LeftBrace, TokenKind::RightBrace)?;
        Some(FunctionDeclaration {
            view,
            parameters,
            body,
            span: self.since(start),
        })
    }

    /// Parses `(a:long = 1, T:(*))`.
    pub(crate) fn parameter_declarations(&mut self) -> Option<Vec<Parameter>> {
        self.bracketed_list(
            TokenKind::LeftParen,
            TokenKind::RightParen,
            Self::parameter_declaration,
        )
    }

    fn parameter_declaration(&mut self) -> Option<Parameter> {
        let name = self.defining_name()?;
        let kind = if self.eat(TokenKind::Colon) {
            self.parameter_type()?
        } else {
            // A parameter without a type is a string.
            ParameterType::Scalar(ScalarType::String)
        };
        let default = if self.eat(TokenKind::Assign) {
            Some(self.expr()?)
        } else {
            None
        };
        Some(Parameter {
            name,
            kind,
            default,
        })
    }

    fn parameter_type(&mut self) -> Option<ParameterType> {
        if !self.at(TokenKind::LeftParen) {
            return self.scalar_type().map(ParameterType::Scalar);
        }
        if self.kind(1) == TokenKind::Star {
            self.skip(2);
            self.expect(TokenKind::RightParen)?;
            return Some(ParameterType::AnyTable);
        }
        self.schema().map(ParameterType::Table)
    }

    fn set_statement(&mut self) -> Option<Statement> {
        self.advance();
        let name = self.name()?;
        let value = if self.eat(TokenKind::Assign) {
            Some(self.parameter_value()?)
        } else {
            None
        };
        Some(Statement::Set { name, value })
    }

    fn declare(&mut self) -> Option<Statement> {
        self.advance();
        if self.eat_word("query_parameters") {
            return self
                .parameter_declarations()
                .map(Statement::QueryParameters);
        }
        self.expect_word("pattern")?;
        self.pattern_declaration().map(Statement::Pattern)
    }

    fn pattern_declaration(&mut self) -> Option<PatternDeclaration> {
        let start = self.start();
        let name = self.defining_name()?;
        let mapping = if self.eat(TokenKind::Assign) {
            Some(self.nested(Self::pattern_mapping)?)
        } else {
            None
        };
        Some(PatternDeclaration {
            name,
            mapping,
            span: self.since(start),
        })
    }

    /// Parses `(a:string, …)[path:string] { rule; … }`.
    fn pattern_mapping(&mut self) -> Option<PatternMapping> {
        let parameters = self.schema()?;
        let path = if self.eat(TokenKind::LeftBracket) {
            let path = self.column_declaration()?;
            self.expect(TokenKind::RightBracket)?;
            Some(path)
        } else {
            None
        };
        self.expect(TokenKind::LeftBrace)?;
        let mut rules = Vec::new();
        loop {
            while self.eat(TokenKind::Semicolon) {}
            if self.eat(TokenKind::RightBrace) {
                break;
            }
            rules.push(self.pattern_rule()?);
        }
        if rules.is_empty() {
            return self.fail();
        }
        Some(PatternMapping {
            parameters,
            path,
            rules,
        })
    }

    /// Parses `('x', …).['y'] = { body }`.
    fn pattern_rule(&mut self) -> Option<PatternRule> {
        let arguments = self.bracketed_list(
            TokenKind::LeftParen,
            TokenKind::RightParen,
            Self::unsigned_literal,
        )?;
        let path = if self.eat(TokenKind::Dot) {
            self.expect(TokenKind::LeftBracket)?;
            let path = self.unsigned_literal()?;
            self.expect(TokenKind::RightBracket)?;
            Some(path)
        } else {
            None
        };
        self.expect(TokenKind::Assign)?;
        let body = self.block(TokenKind::LeftBrace, TokenKind::RightBrace)?;
        Some(PatternRule {
            arguments,
            path,
            body,
        })
    }

    fn unsigned_literal(&mut self) -> Option<Expr> {
        match self.literal() {
            Some(found) => found,
            None => self.fail(),
        }
    }

    fn alias(&mut self) -> Option<Statement> {
        self.skip(2);
        let name = self.name()?;
        self.expect(TokenKind::Assign)?;
        let target = self.expr()?;
        Some(Statement::Alias { name, target })
    }

    fn restrict(&mut self) -> Option<Statement> {
        let start = self.start();
        self.skip(2);
        self.expect_word("to")?;
        let entities = self.bracketed_list(
            TokenKind::LeftParen,
            TokenKind::RightParen,
            Self::table_reference,
        )?;
        if entities.is_empty() {
            return self.fail();
        }
        Some(Statement::Restrict {
            entities,
            span: self.since(start),
        })
    }
}
